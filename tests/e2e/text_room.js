/* Finds text that a reader cannot read: cut, outside of its box or of the window, printed over
   other text, a letter per line, or against its direction; and tables that scroll sideways. Answers one line for each finding, with the element's name. */
() => {
  const SLACK = 1.5; // pixels: boxes end between pixels
  const seen = new Map();
  const of = (one) => {
    if (!seen.has(one)) seen.set(one, { style: getComputedStyle(one), box: inner(one) });
    return seen.get(one);
  };
  const inner = (one) => {
    const box = one.getBoundingClientRect();
    return { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
  };
  const name = (one) => {
    const said = [one.tagName.toLowerCase(), one.id && `#${one.id}`, one.getAttribute("role")];
    return `<${said.filter(Boolean).join(" ")} class="${one.getAttribute("class") ?? ""}">`;
  };
  const quoted = (node) => JSON.stringify(node.data.trim().slice(0, 40));
  const said = document.body.innerText;
  const found = [];
  const tell = (what, node) => found.push(`${what}: ${quoted(node)} in ${name(node.parentElement)}`);

  const scrolls = (value) => value === "auto" || value === "scroll";
  const hides = (value) => value === "hidden" || value === "clip";
  const clamped = (style) => style.webkitLineClamp !== "none";
  // What an ellipsis hides must be told in full: by a title or the name of a control, or, for what
  // is for the eye alone, such as a legend, by the same text elsewhere.
  const told = (one, node) => {
    for (let at = one; at; at = at.parentElement) {
      const more = `${at.getAttribute("title") ?? ""} ${at.getAttribute("aria-label") ?? ""}`;
      if (more.includes(node.data.trim())) return true;
    }
    return one.closest("[aria-hidden=true]") && said.split(node.data.trim()).length > 2;
  };
  const ends = (style) => style.textOverflow === "ellipsis" || clamped(style);

  const visible = [];
  const measure = (node, rect) => {
    const shown = { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom };
    let free = false; // a scroll container shows the rest on demand
    let floating = false; // placed by hand, so that boxes around it mean nothing
    for (let at = node.parentElement; at && at !== document.documentElement; at = at.parentElement) {
      const { style, box } = of(at);
      const wide = rect.right > box.right + SLACK || rect.left < box.left - SLACK;
      const high = rect.bottom > box.bottom + rect.height / 4 || rect.top < box.top - rect.height / 4;
      if (!free && style.display !== "contents" && style.display !== "inline") {
        if (hides(style.overflowX) && wide) {
          if (!ends(style) || !told(at, node)) return void tell("cut at the side", node);
          free = true;
        }
        if (hides(style.overflowY) && high && box.bottom - box.top > 2) {
          if (!clamped(style) || !told(at, node)) return void tell("cut above or below", node);
          free = true;
        }
        const framed = Number.parseFloat(style.borderRightWidth) > 0 || !/, 0\)$|transparent/.test(style.backgroundColor);
        if (framed && wide && !floating && style.overflowX === "visible")
          return void tell(`outside of ${name(at)}`, node);
      }
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        shown.left = Math.max(shown.left, box.left);
        shown.right = Math.min(shown.right, box.right);
        shown.top = Math.max(shown.top, box.top);
        shown.bottom = Math.min(shown.bottom, box.bottom);
        if (scrolls(style.overflowX)) free = true;
      }
      if (style.position === "absolute" || style.position === "fixed") floating = true;
      if (style.position === "fixed") break;
    }
    if (!free && (rect.right > innerWidth + SLACK || rect.left < -SLACK))
      return void tell("outside of the window", node);
    // A line's box is higher than its letters, and closely set lines share that.
    const spare = (rect.bottom - rect.top) * 0.22;
    shown.top = Math.max(shown.top, rect.top + spare);
    shown.bottom = Math.min(shown.bottom, rect.bottom - spare);
    if (shown.right - shown.left > 3 && shown.bottom > shown.top) visible.push({ node, ...shown });
  };

  const forScreenReaders = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const { style, box } = of(at);
      if (box.right - box.left <= 1.5 && hides(style.overflowX)) return true;
      if (style.opacity === "0") return true;
    }
    return false;
  };
  // The direction of a text is that of its first letter that has one.
  const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}]/u;
  const isAgainst = (node) => {
    if (node.parentElement.closest("[dir=ltr]")) return false; // code, which always begins at the left
    const before = node.previousSibling || node.parentElement.dir === "auto";
    const { style } = of(node.parentElement);
    return !before && RIGHT_TO_LEFT.test(node.data) && style.direction === "ltr" && style.unicodeBidi !== "plaintext";
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const OTHERS = "script, style, noscript, option, title, desc, textarea";
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(OTHERS)) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (forScreenReaders(parent)) continue;
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((one) => one.width > 0.5);
    const size = Number.parseFloat(of(parent).style.fontSize);
    const widest = Math.max(0, ...rects.map((one) => one.width));
    if (isAgainst(node)) tell("against its direction", node);
    if (rects.length > 3 && widest < 4 * size) tell("squeezed", node);
    for (const rect of rects) measure(node, rect);
  }

  const scroller = (one) => {
    for (let at = one.parentElement; at && at !== document.body; at = at.parentElement)
      if (scrolls(of(at).style.overflowX)) return true;
    return false;
  };
  for (const one of document.querySelectorAll("a, button, input, select, textarea")) {
    if (!one.checkVisibility({ visibilityProperty: true }) || forScreenReaders(one)) continue;
    const { left, right } = one.getBoundingClientRect();
    if ((right > innerWidth + SLACK || left < -SLACK) && !scroller(one))
      found.push(`control outside of the window: ${name(one)}`);
  }

  // The browser cuts what is chosen without a sign; the arrow takes its part of the room.
  const ARROW = 18;
  const pen = document.createElement("canvas").getContext("2d");
  for (const one of document.querySelectorAll("select")) {
    if (!one.checkVisibility({ visibilityProperty: true }) || forScreenReaders(one)) continue;
    const { style } = of(one);
    pen.font = style.font;
    const room = one.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    const text = one.selectedOptions[0]?.text ?? "";
    if (pen.measureText(text).width > room - ARROW) found.push(`cut in a list: ${text.slice(0, 40)} in ${name(one)}`);
  }

  // Parts of a narrow table stand below each other. Code, logs and grids of cells may scroll, and so may wide
  // tables of shared pages, which show a shadow where there is more.
  const MAY = "pre, nav, [role=log], .source, .wide, [aria-label='Correlation matrix']" + (innerWidth > 832 ? ", .scroll" : "") + (innerWidth < 1024 ? ", [aria-label='Hours and weekdays']" : "");
  for (const one of document.querySelectorAll("body *")) {
    if (one.scrollWidth <= one.clientWidth + 1 || !scrolls(of(one).style.overflowX) || one.matches(MAY)) continue;
    if (one.checkVisibility({ visibilityProperty: true }))
      found.push(`scrolls sideways: ${name(one)} ${one.getAttribute("aria-label") ?? ""}`);
  }

  visible.sort((one, other) => one.top - other.top);
  visible.forEach((one, place) => {
    for (let next = place + 1; next < visible.length && visible[next].top < one.bottom; next += 1) {
      const other = visible[next];
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (one.node === other.node || across < 2 || down < 2) continue;
      // What a layer covers is not printed over it: the reader sees the one on top.
      const x = Math.max(one.left, other.left) + across / 2;
      const y = Math.max(one.top, other.top) + down / 2;
      const layer = (node) => {
        for (let at = node.parentElement; at; at = at.parentElement)
          if (["sticky", "fixed"].includes(of(at).style.position) || at.tagName === "DIALOG") return at;
        return null;
      };
      if (layer(one.node) !== layer(other.node)) continue;
      found.push(`overlap at ${Math.round(x)},${Math.round(y)}: ${quoted(one.node)} and ${quoted(other.node)} in ${name(one.node.parentElement)}`);
    }
  });
  return [...new Set(found)];
}
