// All words of the page, in English and Chinese.

const WORDS = {
  en: {
    skip: "Skip to the data",
    overview: "Overview", table: "Table", gallery: "Gallery", record: "Record",
    views: "Views", search: "Search", searchHint: "Search in text", filter: "Filter",
    filterHint: "label = 3 and height > 500", sort: "Sort by", fileOrder: "order of the files",
    descending: "Descending", ascending: "Ascending", clear: "Clear", cancel: "Cancel", apply: "Apply",
    split: "Split", allSplits: "all splits", columns: "Columns", jump: "Go to record", go: "Go",
    help: "Help", close: "Close", theme: "Light or dark", language: "中文", languageLabel: "Chinese interface",
    files: "Files", file: "File", records: "Records", size: "Size", onDisk: "on disk", features: "Features",
    splits: "Splits", health: "Health", classes: "Classes", name: "Name", kind: "Kind", values: "Values",
    distribution: "Distribution", codec: "Compression", faults: "Faults", index: "Index", yes: "yes", no: "no",
    opening: "Opening the files…", openingAmount: "{bytes} of {total}, {records#record#records}",
    failed: "The data cannot be opened", gone: "The viewer has ended: start tfreel view again.",
    locked: "This page needs the link that tfreel view printed.",
    notRead: "Not all bytes were checked: {verified} of {files} files were read, the others have an index.",
    sound: "Every byte of every file was read, and is sound.",
    damaged: "{faults#fault#faults} in {files#file#files}",
    lost: "{records#record#records} lost", lostUnknown: "an unknown number of records lost",
    lookedAt: "Distributions are from a sample of {records} of {total#record#records}.",
    lookedAtAll: "Distributions are from all {records#record#records}.",
    scanAll: "Check and count everything", scanning: "Reading everything", scanned: "Everything was read.",
    unreadable: "{count#record#records} could not be read as the others",
    faultMap: "Fault map", keeps: "tfreel repair would keep {kept#record#records} of this file",
    repairHint: "The command", fromByte: "From byte", toByte: "To byte", wrong: "What is wrong",
    moreFiles: "… and {count} more files",
    matches: "{count} of {total#record#records}", searching: "{done} of {total} looked at, {count} found",
    sorting: "{done} of {total} looked at", noMatches: "No record is like that.", noRecords: "There are no records.",
    recordOf: "Record {record} of {total}", matchOf: "{place} of {total} found", previous: "Previous", next: "Next",
    back: "Back to the table", wire: "On the disk", offset: "Offset", length: "Length", end: "End",
    lengthChecksum: "Checksum of the length", checksum: "Checksum of the data", recordInFile: "Record in the file",
    link: "Copy the link", copied: "Copied", message: "Message", noExample: "Not an Example: {why}",
    damagedRecord: "This record cannot be shown",
    image: "Image", mask: "Mask", boxes: "Boxes", labels: "Labels", none: "none", zoom: "Zoom", fit: "Fit",
    zoomIn: "Zoom in", zoomOut: "Zoom out", opacity: "Opacity of the mask", showBoxes: "Show boxes", legend: "Classes in the mask",
    objects: "Objects in the mask", assign: "What is drawn over what", object: "object",
    empty: "empty", absent: "absent", steps: "{count#step#steps}", step: "Step {step}", valuesCount: "{count#value#values}",
    firstValues: "the first {shown} of {count}", least: "least", greatest: "greatest", mean: "mean",
    array: "Array {dtype} {shape}", plane: "Plane", download: "Download", cut: "cut short", bytes: "bytes",
    missingIn: "absent in {count}", distinct: "{count} different", more: "{count} more", others: "others",
    filterBy: "Only {what}", exact: "all records", share: "{percent} % of all bytes", sample: "sample",
    keys: "Keys", keyDown: "Next record", keyUp: "Previous record", keyOpen: "Open the record",
    keySearch: "Search", keyFilter: "Filter", keyJump: "Go to a record", keyViews: "Overview, table, gallery", keyHelp: "This page",
    keyBack: "Close, or back to the table", filterHelp: "Conditions",
    filterHelpText: "label = 3 · height > 500 and width > 500 · name in [\"cat\", \"dog\"] · score is missing · not (a < 1 or b >= 2). Names with odd letters stand in `backticks`, text in \"quotes\".",
    chosen: "{count} chosen", noImages: "There are no images here: the tiles show the first features.",
    conflicts: "Where records disagree", recordsCount: "{count#record#records}",
    asCategories: "Click a bar to see only its records.",
  },
  zh: {
    skip: "跳到数据",
    overview: "概览", table: "表格", gallery: "图库", record: "记录",
    views: "视图", search: "搜索", searchHint: "在文本中搜索", filter: "筛选",
    filterHint: "label = 3 and height > 500", sort: "排序", fileOrder: "文件中的顺序",
    descending: "降序", ascending: "升序", clear: "清除", cancel: "取消", apply: "应用",
    split: "划分", allSplits: "全部划分", columns: "列", jump: "跳到记录", go: "跳转",
    help: "帮助", close: "关闭", theme: "浅色或深色", language: "English", languageLabel: "英文界面",
    files: "文件", file: "文件", records: "记录", size: "大小", onDisk: "磁盘上", features: "特征",
    splits: "划分", health: "健康状况", classes: "类别", name: "名称", kind: "类型", values: "取值",
    distribution: "分布", codec: "压缩", faults: "损坏", index: "索引", yes: "有", no: "无",
    opening: "正在打开文件……", openingAmount: "{bytes} / {total}，{records} 条记录",
    failed: "数据无法打开", gone: "查看器已结束：请重新运行 tfreel view。",
    locked: "此页面需要 tfreel view 打印的链接。",
    notRead: "尚未检查所有字节：{files} 个文件中读了 {verified} 个，其余的使用索引。",
    sound: "每个文件的每个字节都读过，完好无损。",
    damaged: "{files} 个文件中有 {faults} 处损坏",
    lost: "丢失 {records} 条记录", lostUnknown: "丢失的记录数未知",
    lookedAt: "分布来自 {total} 条记录中的 {records} 条样本。",
    lookedAtAll: "分布来自全部 {records} 条记录。",
    scanAll: "检查并统计全部数据", scanning: "正在读取全部数据", scanned: "全部数据已读取。",
    unreadable: "{count} 条记录无法像其他记录那样读取",
    faultMap: "损坏位置图", keeps: "tfreel repair 将保留此文件的 {kept} 条记录",
    repairHint: "命令", fromByte: "起始字节", toByte: "结束字节", wrong: "问题",
    moreFiles: "…… 还有 {count} 个文件",
    matches: "{total} 条记录中的 {count} 条", searching: "已看 {done} / {total}，找到 {count} 条",
    sorting: "已看 {done} / {total}", noMatches: "没有这样的记录。", noRecords: "没有记录。",
    recordOf: "记录 {record} / {total}", matchOf: "找到的第 {place} 条，共 {total} 条", previous: "上一条", next: "下一条",
    back: "回到表格", wire: "在磁盘上", offset: "偏移", length: "长度", end: "结束",
    lengthChecksum: "长度的校验和", checksum: "数据的校验和", recordInFile: "文件中的记录号",
    link: "复制链接", copied: "已复制", message: "消息", noExample: "不是 Example：{why}",
    damagedRecord: "此记录无法显示",
    image: "图像", mask: "掩码", boxes: "框", labels: "标签", none: "无", zoom: "缩放", fit: "适应",
    zoomIn: "放大", zoomOut: "缩小", opacity: "掩码的不透明度", showBoxes: "显示框", legend: "掩码中的类别",
    objects: "掩码中的对象", assign: "叠加内容", object: "对象",
    empty: "空", absent: "缺失", steps: "{count} 步", step: "第 {step} 步", valuesCount: "{count} 个值",
    firstValues: "{count} 个中的前 {shown} 个", least: "最小", greatest: "最大", mean: "平均",
    array: "数组 {dtype} {shape}", plane: "平面", download: "下载", cut: "已截短", bytes: "字节",
    missingIn: "{count} 条缺失", distinct: "{count} 种", more: "还有 {count} 个", others: "其他",
    filterBy: "只看 {what}", exact: "全部记录", share: "占全部字节的 {percent}%", sample: "样本",
    keys: "按键", keyDown: "下一条记录", keyUp: "上一条记录", keyOpen: "打开记录",
    keySearch: "搜索", keyFilter: "筛选", keyJump: "跳到某条记录", keyViews: "概览、表格、图库", keyHelp: "本页",
    keyBack: "关闭，或回到表格", filterHelp: "条件",
    filterHelpText: "label = 3 · height > 500 and width > 500 · name in [\"cat\", \"dog\"] · score is missing · not (a < 1 or b >= 2)。特殊名称放在 `反引号` 中，文本放在 \"引号\" 中。",
    chosen: "已选 {count}", noImages: "这里没有图像：格子显示前几个特征。",
    conflicts: "记录之间的分歧", recordsCount: "{count} 条记录",
    asCategories: "点击柱子只看这些记录。",
  },
};

let language = "en";

/** Chooses the language: the one asked for, the one chosen before, or that of the browser. */
export function chooseLanguage(asked) {
  const kept = remembered("tfreel-lang");
  const own = navigator.language?.toLowerCase().startsWith("zh") ? "zh" : "en";
  setLanguage(kept || asked || own);
}

/** Changes the language. */
export function setLanguage(wanted, { keep = false } = {}) {
  language = WORDS[wanted] ? wanted : "en";
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  if (keep) remember("tfreel-lang", language);
}

export const currentLanguage = () => language;

/** The words for a key, with values put in: `{count}`, or `{count#record#records}` with the noun that fits. */
export function t(key, values = {}) {
  const text = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return text.replace(/\{(\w+)(?:#([^#}]*)#([^}]*))?\}/g, (_, name, one, many) => {
    const value = values[name];
    const said = typeof value === "number" ? number(value) : String(value ?? "");
    return one === undefined ? said : `${said} ${value === 1 ? one : many}`;
  });
}

/** What an error says: what the page knows by itself, in its own words. */
export function errorWords(message) {
  return message === "gone" || message === "locked" ? t(message) : message;
}

/** A number as people read it. */
export function number(value) {
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return String(Number(value.toPrecision(6)));
  return value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/** A number with all its digits. */
export function exactly(value) {
  return String(value);
}

/** An amount of bytes as people read it. */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit += 1;
  }
  return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
}

/** Something to be known again next time; in a frame a browser may refuse that. */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It is forgotten then.
  }
}

export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** All keys of both languages: for the test that none is missing. */
export const allWords = WORDS;
