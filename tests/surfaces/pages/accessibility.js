// What a screen reader, a keyboard or weak eyes would stumble over, as a list of sentences. Runs at once,
// so that it works in a page whose own scripts are off. Contrast and names follow WCAG 2.2, level AA.
(() => {
  const found = [];
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const shown = (node) => {
    const closed = node.closest("details:not([open])");
    const inSummary = node.closest("summary");
    return (!closed || (inSummary && inSummary.parentElement === closed)) && node.getClientRects().length > 0;
  };
  const where = (node) => {
    const name = node.id ? `#${node.id}` : node.className && typeof node.className === "string" ? `.${node.className}` : "";
    return `${node.tagName.toLowerCase()}${name} "${(node.textContent || "").trim().slice(0, 40)}"`;
  };

  // The page
  if (!document.documentElement.lang) found.push("the page names no language");
  if (!document.title.trim()) found.push("the page has no title");
  if (all("main").length !== 1) found.push("there is not one main part");
  if (all("h1").length !== 1) found.push("there is not one first heading");
  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6").filter(shown)) {
    const own = Number(heading.tagName[1]);
    if (level && own > level + 1) found.push(`a heading skips a level: ${where(heading)}`);
    level = own;
  }
  const ids = all("[id]").map((node) => node.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) found.push(`two elements have the id ${id}`);
  for (const link of all('a[href^="#"]')) {
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    if (id && !document.getElementById(id)) found.push(`a link leads nowhere in this page: ${where(link)}`);
  }

  // Names
  const nameOf = (node) =>
    [node.getAttribute("aria-label"), node.textContent, node.getAttribute("title"), node.alt].find((text) => text && text.trim());
  for (const node of all("a[href], button, summary, [role=img]")) if (!nameOf(node)) found.push(`no name: ${where(node)}`);
  for (const node of all("input:not([type=hidden]), select, textarea"))
    if (!node.labels.length && !node.getAttribute("aria-label")) found.push(`no label: ${node.outerHTML.slice(0, 80)}`);
  for (const node of all("img")) if (node.getAttribute("alt") === null) found.push(`no text for a picture: ${node.src.slice(0, 80)}`);
  for (const node of all("svg"))
    if (node.getAttribute("aria-hidden") !== "true" && !node.getAttribute("aria-label")) found.push(`a drawing has no text: ${where(node)}`);
  for (const table of all("table"))
    if (!table.querySelector("th")) found.push(`a table has no heads: ${where(table)}`);

  // Keyboard: what scrolls can be reached
  for (const node of all("body *").filter(shown)) {
    const style = getComputedStyle(node);
    const scrolls =
      (/auto|scroll/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1) ||
      (/auto|scroll/.test(style.overflowY) && node.scrollHeight > node.clientHeight + 1);
    if (scrolls && node.tabIndex < 0 && !/^(textarea|select)$/i.test(node.tagName)) found.push(`cannot be scrolled by keyboard: ${where(node)}`);
  }
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) found.push(`changes the order of the keyboard: ${where(node)}`);

  // Contrast
  const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(node) || !shown(node)) continue;
    seen.add(node);
    const style = getComputedStyle(node);
    if (/^(script|style|option|title)$/i.test(node.tagName) || style.visibility === "hidden") continue;
    const [one, other] = [light(parts(style.color)), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const enough = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < enough) found.push(`contrast ${ratio.toFixed(2)} of ${enough}: ${where(node)}`);
  }
  return found;
})()
