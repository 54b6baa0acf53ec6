"""TensorFlow's names for record code, without TensorFlow: ``from tfreel import tf``.

What is public under which name is in `names`; what differs from TensorFlow in `compatibility`.
"""

# Tensors learn from these what they can do, whichever name is asked for first.
import tfreel.tf.ops.operators
import tfreel.tf.ops.slicing
import tfreel.tf.values.ragged
import tfreel.tf.values.sparse  # noqa: F401
from tfreel.tf.names import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
