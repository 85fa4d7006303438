// Five sizes, light and dark: nothing scrolls sideways, nothing is cut off, nothing moves.
// Pictures of each go to shots/.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { control, noComplaints, open, settled } from "./page.mjs";

const SIZES = [
  ["desktop", 1440, 900],
  ["small", 1024, 768],
  ["drawer", 700, 900],
  ["phone", 390, 844],
  ["narrow", 360, 740],
];
const SHOTS = fileURLToPath(new URL("shots/", import.meta.url));
const RICH =
  "v=1&rate=40&in=quantiles(0:20,50:700,90:2100,99:5600,100:8000)&out=lognormal(256,0.5)" +
  "&arrivals=onoff(20s,60s,0.1)&profile=spike(60s,30s,3)" +
  "&class.chat=share:60,ttft:500ms,tpot:40ms&class.rag=share:20,in:4000,out:lognormal(300,0.6),ttft:2000ms";
const NO_FIT = "v=1&model=llama-3.1-70b";

let browser;
before(async () => {
  await mkdir(SHOTS, { recursive: true });
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const shoot = (page, name) => page.screenshot({ path: `${SHOTS}${name}.png` });

/** Opens a link at a size; a phone has a finger. */
function openAt(link, [name, width, height], colorScheme = "light") {
  const hasTouch = name === "phone" || name === "narrow";
  return open(browser, link, { viewport: { width, height }, hasTouch, colorScheme });
}

/**
 * Texts that are cut off, elements that reach over the window's edge, and texts of the answer that
 * lie on one another. Runs in the page.
 */
function faults(mayShorten = false) {
  const found = [];
  const { documentElement: root } = document;
  if (root.scrollWidth > root.clientWidth) {
    found.push(`the page scrolls sideways: ${root.scrollWidth} in ${root.clientWidth}`);
  }
  const named = (element) =>
    `${element.tagName.toLowerCase()}.${element.className} “${element.textContent.trim().slice(0, 40)}”`;
  const isShown = (element) => {
    if (element.closest("[hidden], .hidden-but-read, .skip, noscript")) return false;
    const { width, height } = element.getBoundingClientRect();
    return element.checkVisibility({ visibilityProperty: true }) && width > 1 && height > 1;
  };
  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  /** Strips that are meant to be moved sideways. */
  const scrolls = (element) => element.closest(".chips, .table-scroll") !== null;

  const texts = [...document.body.querySelectorAll("*")].filter((e) => isShown(e) && hasText(e));
  for (const element of texts) {
    const style = getComputedStyle(element);
    const cutsX = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    const cutsY = style.overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1;
    // What is cut off with an ellipsis and told in full beside it is no fault where numbers are long.
    const isTold = mayShorten && element.closest("[title]") !== null;
    if ((cutsX || cutsY) && !scrolls(element) && !isTold) {
      found.push(
        `cut off: ${named(element)}, ${element.scrollWidth}×${element.scrollHeight} ` +
          `in ${element.clientWidth}×${element.clientHeight}`,
      );
    }
    const { left, right } = element.getBoundingClientRect();
    if (!scrolls(element) && (left < -1 || right > innerWidth + 1)) {
      found.push(`over the edge: ${named(element)}, ${left} to ${right}`);
    }
  }
  for (const field of document.querySelectorAll("input[type=text]")) {
    if (isShown(field) && field.scrollWidth > field.clientWidth + 1) {
      found.push(`cut off: field ${field.id} “${field.value}”`);
    }
  }

  // Glyph boxes, since a text's element may be wider than the text.
  const boxes = texts
    .filter((element) => element.closest(".answer, .bar, .knee"))
    .flatMap((element) => {
      const range = document.createRange();
      return [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
        .map((node) => {
          range.selectNodeContents(node);
          const { left, top, right, bottom } = range.getBoundingClientRect();
          const edge = element.getBoundingClientRect().right;
          const isCut = getComputedStyle(element).overflowX !== "visible";
          return { element, box: { left, top, bottom, right: isCut ? Math.min(right, edge) : right } };
        });
    });
  boxes.forEach(({ element, box }, index) => {
    for (const { element: other, box: b } of boxes.slice(index + 1)) {
      const x = Math.min(box.right, b.right) - Math.max(box.left, b.left);
      const y = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
      // Pieces of one paragraph share their lines.
      if (element.contains(other) || other.contains(element)) continue;
      // Line boxes may overlap by a few px where there is no ink.
      const sameCard = element.closest(".card, .bar") === other.closest(".card, .bar");
      if (sameCard && x > 1 && y > 6) found.push(`${named(element)} lies on ${named(other)}`);
    }
  });
  return found;
}

for (const size of SIZES) {
  const [name, width, height] = size;
  test(`${name}, ${width} × ${height}: nothing is cut off`, async () => {
    for (const scheme of ["light", "dark"]) {
      const { context, page, complaints } = await openAt("", size, scheme);
      await page.evaluate(() => document.fonts.ready);
      await shoot(page, `${name}-${scheme}`);
      assert.deepEqual(await page.evaluate(faults), [], scheme);
      if (name === "drawer") {
        await page.getByRole("button", { name: "Settings", exact: true }).click();
      }
      if (width < 600) {
        await page.locator(".sheet-foot button").click();
        await page.locator(".side[data-stop=full]").waitFor();
      }
      for (const group of ["Arrivals", "Lengths", "Mix of requests", "Engine", "Accuracy"]) {
        const fold = page.locator(".fold-button", { hasText: group });
        if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
      }
      assert.deepEqual(await page.evaluate(faults), [], `${scheme}, settings`);
      await shoot(page, `${name}-${scheme}-settings`);
      noComplaints(complaints);
      await context.close();
    }
  });

  test(`${name}, ${width} × ${height}: nor in the controls of richer traffic`, async () => {
    for (const scheme of ["light", "dark"]) {
      const { context, page, complaints } = await openAt(RICH, size, scheme);
      await page.evaluate(() => document.fonts.ready);
      await shoot(page, `${name}-${scheme}-rich`);
      assert.deepEqual(await page.evaluate(faults), [], scheme);
      if (name === "drawer") {
        await page.getByRole("button", { name: "Settings", exact: true }).click();
      }
      if (width < 600) {
        await page.locator(".sheet-foot button").click();
        await page.locator(".side[data-stop=full]").waitFor();
      }
      for (const group of ["Arrivals", "Lengths", "Mix of requests"]) {
        const fold = page.locator(".fold-button", { hasText: group });
        await fold.click();
        await fold.evaluate((element) => element.scrollIntoView());
        assert.deepEqual(await page.evaluate(faults), [], `${scheme}, ${group}`);
        await shoot(page, `${name}-${scheme}-rich-${group.split(" ")[0].toLowerCase()}`);
      }
      const share = page.locator(".class-part[data-part=share] input").first();
      await share.fill("most");
      await share.press("Enter");
      await page.locator(".class-row .control-message").waitFor();
      assert.deepEqual(await page.evaluate(faults), [], `${scheme}, refused`);
      await shoot(page, `${name}-${scheme}-rich-refused`);
      noComplaints(complaints);
      await context.close();
    }
  });

  test(`${name}, ${width} × ${height}: nor in states without a number`, async () => {
    for (const [state, link] of [
      ["no-fit", NO_FIT],
      ["out-of-reach", "v=1&ttft=10ms"],
      ["close", "v=1&rate=90"],
      ["long", "v=1&rate=10000&gpu=h100-pcie"],
      ["large", "v=1&rate=10000&model=gemma-3-27b&gpu=b200"],
      ["notices", "v=1&foo=1&rate=-4"],
    ]) {
      const { context, page, complaints } = await openAt(link, size);
      await shoot(page, `${name}-${state}`);
      assert.deepEqual(await page.evaluate(faults, state === "large"), [], state);
      noComplaints(complaints);
      await context.close();
    }
  });

  test(`${name}, ${width} × ${height}: nothing moves while values change`, async () => {
    const { context, page, complaints } = await openAt("", size);
    await page.evaluate(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries()) {
          for (const { node, previousRect: from, currentRect: to } of sources) {
            const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
            // Cells are what the gauge shows: with another number of GPUs they are others.
            if (element?.closest(".gauge-cells")) continue;
            // What the number of digits may push along, and nothing else.
            const inHead = element?.closest(".answer-head, .gauge-labels") !== null;
            const at = ({ x, y, width: w, height: h }) => `${x},${y} ${w}×${h}`;
            const what = `${value.toFixed(4)}: ${element?.className} ${at(from)} → ${at(to)}`;
            window.shifts.push({ what, inHead });
          }
        }
      }).observe({ type: "layout-shift", buffered: true });
    });
    const shifts = () => page.evaluate(() => window.shifts.splice(0));
    // What comes late has its place kept.
    await page.locator(".cost-figures:not(.stale)").waitFor();
    assert.deepEqual(await shifts(), [], "while the page opened");
    if (name === "drawer") {
      await page.getByRole("button", { name: "Settings", exact: true }).click();
      await page.locator(".side[data-open=true]").waitFor();
      await page.waitForFunction(() => document.getAnimations().length === 0);
      await shifts();
    }
    const boxes = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".card, .control, .plot, .readout, .fact, .bar, canvas")]
          .map((element) => [element.className || element.tagName, element.getBoundingClientRect()])
          .map(([name, { x, y, width, height }]) => `${name} ${x},${y} ${width}×${height}`),
      );
    const before = await boxes();
    const { slider } = control(page, "rate");
    await slider.focus();
    // Each time through “running” and back.
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "Delete"]) {
      await slider.press(key);
      await settled(page);
    }
    assert.deepEqual(await shifts(), [], "while the number of digits stayed");
    const box = await slider.boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    await page.mouse.down();
    for (const at of [0.59, 0.56, 0.61, 0.58, 0.6]) {
      await page.mouse.move(box.x + box.width * at, box.y + box.height / 2, { steps: 3 });
    }
    await page.mouse.up();
    await settled(page);
    // From one digit to many, and past what the gauge shows as cells.
    for (const key of ["PageUp", "End", "Home", "Delete"]) {
      await slider.press(key);
      await settled(page);
      assert.deepEqual(await boxes(), before, key);
    }
    const pushed = (await shifts()).filter(({ inHead }) => !inHead);
    assert.deepEqual(pushed, [], "while the number of digits changed");
    noComplaints(complaints);
    await context.close();
  });
}

/** The longest names, and from one GPU to as many as can be asked for. */
const EXTREMES = [
  ["one", "v=1&rate=1", 8],
  ["tens", "v=1&rate=1000&gpu=h100-pcie", 8],
  ["hundreds", "v=1&rate=3000", 8],
  ["thousands", "v=1&rate=10000&gpu=rtx-4090", 8],
  ["ten thousands", "v=1&rate=10000&gpu=l4&out=1500", 8],
  ["hundred thousands", "v=1&gpu=l4&in=79961&ttft=30000ms&tpot=88ms", 8],
  ["a million", "v=1&rate=1000&gpu=l4&in=79961&ttft=30000ms&tpot=88ms&sim.replications=1", 1],
  ["users", "v=1&arrivals=closed(100000,10s)&gpu=rtx-4090", 8],
  ["a long target", "v=1&ttft=60000ms&tpot=60000ms&headroom=0", 8],
];

test("the answer fits from one GPU to a million, on a desk and on a phone", async () => {
  let most = 0;
  for (const size of [SIZES[0], SIZES[3]]) {
    for (const [name, link, runs] of EXTREMES) {
      const [shape, width, height] = size;
      const options = { viewport: { width, height }, hasTouch: shape === "phone", runs };
      const { context, page, complaints } = await open(browser, link, options);
      await page.evaluate(() => document.fonts.ready);
      await shoot(page, `${shape}-extreme-${name.replaceAll(" ", "-")}`);
      const where = `${shape}, ${name}`;
      assert.deepEqual(await page.evaluate(faults), [], where);
      // What is cut off in the answer is not told at all, whatever lies beside it.
      const cut = await page.evaluate(() => {
        const parts = ".hero, .headline, .headline > span, .qualifier, .pill, .fact > *, .paragraph, .gauge-labels > *";
        const card = document.querySelector(".answer").getBoundingClientRect();
        return [...document.querySelectorAll(parts)]
          .filter((part) => part.checkVisibility({ visibilityProperty: true }))
          .filter((part) => {
            const { left, right, bottom } = part.getBoundingClientRect();
            const isCut = part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0;
            return isCut || left < card.left + 2 || right > card.right || bottom > card.bottom;
          })
          .map((part) => `${part.className} “${part.textContent}”`);
      });
      assert.deepEqual(cut, [], where);
      const hero = await page.locator(".answer .hero").textContent();
      const numbers = hero.match(/[\d,]+/g) ?? [];
      most = Math.max(most, ...numbers.map((text) => Number(text.replaceAll(",", ""))));
      noComplaints(complaints);
      await context.close();
    }
  }
  assert.ok(most >= 1_000_000, `the largest number is ${most}`);
});

test("the sign of an estimate keeps clear of the card's edge", async () => {
  for (const size of [SIZES[0], SIZES[1], SIZES[3], SIZES[4]]) {
    const { context, page, complaints } = await openAt("", size);
    const { slider } = control(page, "rate");
    await slider.focus();
    // A drag that goes on: the sign stays for as long as the test looks.
    const box = await slider.boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    await page.mouse.down();
    for (const share of [0.62, 0.66, 0.7]) {
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    }
    const sign = await page.locator(".hero-sign").boundingBox();
    const card = await page.locator(".answer").boundingBox();
    assert.ok(sign.x >= card.x + 3, `${size[0]}: ${sign.x} in a card from ${card.x}`);
    await page.mouse.up();
    await settled(page);
    noComplaints(complaints);
    await context.close();
  }
});

test("a phone's sheet at its lowest stop always shows one control", async () => {
  const { context, page, complaints } = await openAt("", ["phone", 390, 844]);
  const visible = page.locator(".side .control:visible");
  const openSheet = async (is) => {
    const button = page.locator(".sheet-foot button");
    if ((await button.getAttribute("aria-expanded")) !== String(is)) await button.click();
    await page.locator(`.side[data-stop=${is ? "full" : "peek"}]`).waitFor();
  };
  assert.equal(await visible.getAttribute("id"), "control-rate");
  for (const [id, shown] of [["tpot", "tpot"], ["requests", "rate"], ["headroom", "headroom"]]) {
    await openSheet(true);
    const fold = page.locator(".fold-button", { hasText: "Accuracy" });
    if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
    await control(page, id).slider.press("ArrowRight");
    await openSheet(false);
    assert.equal(await visible.count(), 1, `after ${id}`);
    assert.equal(await visible.getAttribute("id"), `control-${shown}`);
  }
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("the lowest stop shows the users of a closed loop in place of the rate", async () => {
  const link = "v=1&arrivals=closed(200,10s)";
  const { context, page, complaints } = await openAt(link, ["phone", 390, 844]);
  const visible = page.locator(".side .control:visible");
  assert.equal(await visible.count(), 1);
  assert.equal(await visible.getAttribute("id"), "control-users");
  noComplaints(complaints);
  await context.close();
});

test("on a phone the two buttons of the notice line stand side by side", async () => {
  for (const [width, height] of [[390, 844], [360, 740]]) {
    const { context, page, complaints } = await openAt("v=1&foo=1&rate=-4", ["phone", width, height]);
    const box = (name) => page.locator(".notice").getByRole("button", { name }).boundingBox();
    const [show, dismiss] = [await box("Show"), await box("Dismiss")];
    assert.equal(show.y, dismiss.y, `at ${width}`);
    for (const { width: w, height: h } of [show, dismiss]) assert.ok(w >= 44 && h >= 44, `${w} × ${h}`);
    await page.locator(".notice").getByRole("button", { name: "Show" }).click();
    assert.deepEqual(await page.evaluate(faults), []);
    noComplaints(complaints);
    await context.close();
  }
});

test("at 400 % zoom of 1280 × 1024 the page reflows without a sideways scroll", async () => {
  const { context, page, complaints } = await openAt("", ["zoomed", 320, 256]);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 320, `${wide} px wide`);
  noComplaints(complaints);
  await context.close();
});
