"""Record code as its users write it, against TensorFlow's public names only.

Every public function here is a script: it takes a module and an empty folder, and answers what it found. The
module is ``tensorflow`` or ``tfreel.tf``; the answers must be equal. A script whose first parameter is called
``v1`` is code of the first generation and gets the module's ``compat.v1``.
"""
