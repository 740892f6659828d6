// Looks at a page in frames of several widths, as somebody with a ruler would. The frames hold the page as it is:
// its policy forbids scripts, so this one runs beside it. Writes what it found as JSON into the document.
"use strict";

const ALLOWED = new Set(("html head meta title style body a header p h1 h2 h3 ul li nav main div section dl dt dd " +
  "figure figcaption svg desc defs pattern line g rect text table thead tbody tr th td span code strong details " +
  "summary pre").split(" "));

function channel(value) {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

function parse(color) {
  const parts = color.match(/^rgba?\(([^)]*)\)$/);
  if (!parts) throw new Error(`not a colour that is understood: ${color}`);
  const [r, g, b, a = 1] = parts[1].split(",").map(Number);
  return { r, g, b, a };
}

function luminance({ r, g, b }) {
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
}

function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

// The first ancestor that paints decides; what is half transparent would need more than this.
function behind(element) {
  for (let at = element; at; at = at.parentElement) {
    if (at.tagName === "g" && at.querySelector("rect.fill")) {
      return parse(getComputedStyle(at.querySelector("rect.fill")).fill);
    }
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.a === 1) return color;
    if (color.a !== 0) throw new Error(`half transparent: ${at.className}`);
  }
  return { r: 255, g: 255, b: 255, a: 1 };
}

function named(element) {
  const text = element.textContent.trim().slice(0, 40);
  return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") || ""}"> ${JSON.stringify(text)}`;
}

function measure(frame) {
  const view = frame.contentWindow;
  const page = frame.contentDocument;
  const faults = [];
  const root = page.documentElement;
  const fault = (what, element) => faults.length < 20 && faults.push(element ? `${what}: ${named(element)}` : what);
  if (root.scrollWidth > view.innerWidth) fault(`the page is ${root.scrollWidth} wide`);

  const ids = new Set();
  for (const element of page.querySelectorAll("[id]")) {
    if (ids.has(element.id)) fault(`twice the id ${element.id}`);
    ids.add(element.id);
  }
  for (const element of page.querySelectorAll("*")) {
    if (!ALLOWED.has(element.tagName.toLowerCase())) fault("an element that no template has", element);
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "style" || name === "src") fault(`the attribute ${name}`, element);
      if (name === "href" && !ids.has(value.slice(1))) fault(`a link to nowhere, ${value}`, element);
      if (name === "aria-labelledby") {
        for (const id of value.split(" ")) if (!ids.has(id)) fault(`no name ${id}`, element);
      }
    }
    if (element.tagName === "TH" && !element.getAttribute("scope")) fault("a head without scope", element);
  }
  let level = 0;
  for (const heading of page.querySelectorAll("h1, h2, h3")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) fault(`level ${next} after ${level}`, heading);
    level = next;
  }

  // Boxes that may not hold less than their content: nothing sticks out, nothing is cut.
  for (const box of page.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, figcaption, summary, pre, span, code")) {
    if (box.closest(".unseen, .skip")) continue;
    if (!box.checkVisibility()) continue;
    if (box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1) {
      fault(`${box.scrollWidth} wide in a box of ${box.clientWidth}`, box);
    }
  }

  let texts = 0;
  let least = Infinity;
  const colors = new Map();
  const range = page.createRange();
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("title, desc, .unseen, .skip")) continue;
    range.selectNodeContents(walker.currentNode);
    const rects = range.getClientRects();
    texts += 1;
    // What is in a box that scrolls may lie outside the window; what is in none may not.
    const scrolls = element.closest(".scroll");
    const inside = !scrolls || getComputedStyle(scrolls).overflowX === "visible";
    for (const rect of inside ? rects : []) {
      if (rect.left < -0.5 || rect.right > view.innerWidth + 0.5) fault("beyond the edge", element);
    }
    if (element.tagName === "text") {
      const [rect, whole] = [element.getBoundingClientRect(), element.parentElement.querySelector("rect")];
      const bounds = whole.getBoundingClientRect();
      if (rect.left < bounds.left || rect.right > bounds.right) fault("a number wider than its part", element);
    }
    const style = getComputedStyle(element);
    const front = element.tagName === "text" ? style.fill : style.color;
    const key = `${front} ${element.className.baseVal ?? element.className} ${element.tagName}`;
    if (element.tagName !== "text" && colors.has(key)) continue;
    const ratio = contrast(parse(front), behind(element));
    colors.set(key, ratio);
    least = Math.min(least, ratio);
    if (ratio < 4.5) fault(`contrast ${ratio.toFixed(2)}`, element);
  }
  return {
    width: view.innerWidth,
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    height: root.scrollHeight,
    title: page.title,
    heading: page.querySelector("h1")?.textContent,
    texts,
    least,
    faults,
  };
}

addEventListener("load", () => {
  const found = [];
  try {
    for (const frame of document.querySelectorAll("iframe")) {
      found.push(measure(frame));
      for (const details of frame.contentDocument.querySelectorAll("details")) details.open = true;
      const opened = measure(frame);
      opened.opened = true;
      found.push(opened);
    }
  } catch (error) {
    found.push({ faults: [`the measurement failed: ${error.stack}`], texts: 0 });
  }
  const result = document.createElement("script");
  result.type = "application/json";
  result.id = "found";
  result.textContent = JSON.stringify(found).replaceAll("<", "\\u003c");
  document.body.replaceChildren(result);
});
