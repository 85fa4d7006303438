// Every control by mouse, and again by keyboard alone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  control,
  linkWith,
  noComplaints,
  open,
  plain,
  settled,
  type,
} from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** id, default, least, most, after →, after Shift+→, after PageUp, after a click at 3/4. */
const SLIDERS = [
  ["rate", "100", "0.1", "10,000", "101", "110", "200"],
  ["in", "1,024", "16", "131,072", "1,030", "1,130", "2,048"],
  ["out", "256", "1", "16,384", "259", "282", "512"],
  ["ttft", "1,000", "10", "60,000", "1,010", "1,100", "2,000"],
  ["tpot", "40", "1", "500", "40.4", "44", "80"],
  ["headroom", "25", "0", "100", "26", "30", "50"],
  ["budget", "8,192", "128", "131,072", "8,270", "9,010", "16,384"],
  ["seqs", "256", "1", "4,096", "259", "282", "512"],
];

const FOLDED = [
  ["requests", "2,000", "100", "100,000", "2,020", "2,200", "4,000"],
  ["runs", "8", "4", "64", "9", "9", "16"],
];

/** Numbers that a drag may stop at: few digits, or a power of two or one and a half times it. */
function isRound(id, text) {
  const value = Number(text.replaceAll(",", ""));
  if (["in", "out", "budget", "seqs", "runs"].includes(id)) {
    return [1, 1.5].some((m) => Number.isInteger(Math.log2(value / m)));
  }
  if (id === "headroom") return value % 5 === 0;
  return /^[1-9]\d?0*$/.test(String(value).replace(".", ""));
}

test("each slider by mouse: snaps to round values, double click goes back", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  for (const [id, preset] of [...SLIDERS, ...FOLDED]) {
    const { slider, field } = control(page, id);
    assert.equal(await field.inputValue(), preset, id);
    await slider.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await slider.boundingBox();
    for (const share of [0.36, 0.83]) {
      await page.mouse.click(x + share * width, y + height / 2);
      const value = await field.inputValue();
      assert.notEqual(value, preset, `${id} at ${share}`);
      assert.ok(isRound(id, value), `${id} stopped at ${value}`);
      const spoken = await slider.getAttribute("aria-valuetext");
      assert.equal(spoken.split(" ")[0], value, id);
    }
    await page.mouse.dblclick(x + 0.5 * width, y + height / 2);
    assert.equal(await field.inputValue(), preset, `double click on ${id}`);
  }
  await linkWith(page, "v=1");
  await settled(page);
  assert.equal((await answer(page)).hero, "6");
  noComplaints(complaints);
  await context.close();
});

test("radios and switches by mouse", async () => {
  const { context, page, complaints } = await open(browser);
  const pick = (id, name) =>
    page.locator(`#control-${id} label`).filter({ hasText: new RegExp(`^${name}$`) }).click();
  await pick("share", "99\\.9\\s%");
  await linkWith(page, "share=99.9");
  await pick("share", "95\\s%");
  await linkWith(page, "share=95");
  await page.locator(".fold-button", { hasText: "Arrivals" }).click();
  await pick("pattern", "Bursty");
  await linkWith(page, "arrivals=gamma(0.5)");
  assert.equal(await control(page, "burstiness").field.inputValue(), "0.5");
  await control(page, "burstiness").slider.press("Delete");
  await linkWith(page, "arrivals=gamma(1)");
  await pick("pattern", "Even");
  await linkWith(page, "arrivals=even");
  assert.equal(await control(page, "burstiness").field.count(), 0);
  const summary = page.locator(".fold-button", { hasText: "Arrivals" });
  assert.match(plain(await summary.textContent()), /Even/);
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("pickers by mouse: search, pick, leave", async () => {
  const { context, page, complaints } = await open(browser);
  const button = page.locator("#control-gpu .picker-button");
  await button.click();
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  const all = await page.locator(".picker-row").count();
  assert.ok(all >= 5, `${all} GPUs`);
  await page.locator(".picker-search").fill("zzzz");
  assert.match(plain(await page.locator(".picker-empty").textContent()), /“zzzz”/);
  await page.locator(".picker-search").fill("h200");
  await page.locator(".picker-row").first().click();
  await linkWith(page, "gpu=h200");
  assert.equal(await page.locator(".picker-panel").count(), 0);
  assert.match(await button.textContent(), /H200/);
  await settled(page);
  assert.match((await answer(page)).headline, /^H200/);
  await button.click();
  // A click elsewhere closes it and changes nothing.
  await page.locator("#knee-title").click();
  assert.equal(await page.locator(".picker-panel").count(), 0);
  assert.match(await button.textContent(), /H200/);
  noComplaints(complaints);
  await context.close();
});

/** What has the focus, in a word. */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: at } = document;
    const group = at.closest("[id^=control-]")?.id.slice("control-".length);
    if (group) return `${group} ${at.type === "button" ? "picker" : at.type}`;
    if (at.matches(".fold-button")) return `fold ${at.querySelector(".fold-name").textContent}`;
    return (at.getAttribute("aria-label") ?? at.textContent).replace(/\s+/gu, " ").trim();
  });

test("Tab goes from the skip link through bar, controls and panels, in reading order", async () => {
  const { context, page, complaints } = await open(browser);
  const order = [];
  for (let steps = 0; steps < 80; steps += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    order.push(now);
    const ring = await page.evaluate(() => {
      const { activeElement: at } = document;
      const shown = at.matches("input[type=text], input[type=radio]") ? (at.closest("label") ?? at) : at;
      const [own, around] = [at, shown].map((element) => getComputedStyle(element));
      const box = at.getBoundingClientRect();
      const inView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
      const drawn = [own, around].some((s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0);
      return { drawn: drawn || own.boxShadow !== "none", inView };
    });
    assert.ok(ring.drawn, `no focus ring on ${now}`);
    assert.ok(ring.inView, `${now} has the focus out of view`);
    if (now === "Where the numbers come from") break;
  }
  const sliders = (ids) => ids.flatMap((id) => [`${id} text`, `${id} range`]);
  assert.deepEqual(order, [
    "Skip to the answer",
    "Plan",
    "Fleet",
    "Compare",
    "Calibrate",
    "How we know",
    "Pin to compare",
    "Export",
    "Copy link",
    "Keys",
    "Theme: system",
    "model picker",
    "gpu picker",
    "tp radio",
    ...sliders(["rate"]),
    "demand select-one",
    ...sliders(["in", "out", "ttft", "tpot"]),
    "share radio",
    ...sliders(["headroom"]),
    "fold Recorded traffic",
    "fold Arrivals",
    "fold Lengths",
    "fold Mix of requests",
    "fold Engine",
    "rules select-one",
    ...sliders(["budget", "seqs"]),
    "kv text",
    "drafted text",
    "pool-prefill text",
    "pool-decode text",
    "fold Memory",
    "fold Overload and retries",
    "fold Accuracy",
    "PNG",
    "Table",
    "Request rate on the chart",
    "price text",
    "utilisation text",
    "Table",
    "What holds it back",
    "Cheaper or faster",
    "What would change it",
    "Where the numbers come from",
  ]);
  noComplaints(complaints);
  await context.close();
});

test("the skip link brings the focus to the answer", async () => {
  const { context, page, complaints } = await open(browser);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "answer");
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "PNG");
  noComplaints(complaints);
  await context.close();
});

test("each slider by its keys", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator(".fold-button", { hasText: "Accuracy" }).press("Enter");
  for (const [id, preset, least, most, small, large, paged] of [...SLIDERS, ...FOLDED]) {
    const { slider, field } = control(page, id);
    await slider.focus();
    const press = async (key, expected) => {
      await page.keyboard.press(key);
      assert.equal(await field.inputValue(), expected, `${key} on ${id}`);
    };
    await press("ArrowRight", small);
    await press("Delete", preset);
    await press("ArrowUp", small);
    await press("Delete", preset);
    await press("Shift+ArrowRight", large);
    await press("Delete", preset);
    await press("PageUp", paged);
    await press("PageDown", preset);
    await press("Home", least);
    await press("ArrowLeft", least);
    await press("End", most);
    await press("PageUp", most);
    await press("Delete", preset);
    await page.keyboard.press("ArrowLeft");
    assert.notEqual(await field.inputValue(), preset, `ArrowLeft on ${id}`);
    await press("Delete", preset);
  }
  await settled(page);
  assert.equal((await answer(page)).hero, "6");
  noComplaints(complaints);
  await context.close();
});

test("a field by keyboard: the arrows step, Escape gives the value back", async () => {
  const { context, page, complaints } = await open(browser);
  const { field } = control(page, "rate");
  await field.focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await field.inputValue(), "101");
  await page.keyboard.press("Shift+ArrowUp");
  assert.equal(await field.inputValue(), "111");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("77");
  await page.keyboard.press("Escape");
  assert.equal(await field.inputValue(), "111");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("80");
  await page.keyboard.press("Tab");
  assert.equal(await field.inputValue(), "80");
  await linkWith(page, "rate=80");
  noComplaints(complaints);
  await context.close();
});

test("radios, folds and pickers by keyboard", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator("#control-share input:checked").focus();
  await page.keyboard.press("ArrowRight");
  await linkWith(page, "share=99.9");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await linkWith(page, "share=95");

  const fold = page.locator(".fold-button", { hasText: "Arrivals" });
  await fold.focus();
  await page.keyboard.press("Space");
  assert.equal(await fold.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "pattern radio");
  await page.keyboard.press("ArrowDown");
  await linkWith(page, "arrivals=gamma(0.5)");

  const button = page.locator("#control-model .picker-button");
  await button.focus();
  await page.keyboard.press("Enter");
  const search = page.locator(".picker-search");
  await search.waitFor();
  const active = async () => page.locator(`#${await search.getAttribute("aria-activedescendant")}`);
  const name = async () => (await active()).locator(".picker-name").textContent();
  assert.match(await name(), /Qwen2\.5-7B/, "the list does not begin at the choice");
  await page.keyboard.press("ArrowDown");
  const second = await name();
  await page.keyboard.press("ArrowUp");
  assert.match(await name(), /Qwen2\.5-7B/);
  await page.keyboard.press("End");
  assert.notEqual(await name(), second);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".picker-panel").count(), 0);
  assert.equal(await focused(page), "model picker");
  assert.match(await button.textContent(), /Qwen2\.5-7B/);

  await page.keyboard.press("Enter");
  await page.keyboard.type("llama 8b");
  const first = await name();
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "model picker");
  assert.ok((await button.textContent()).includes(first), `${first} was not picked`);
  await linkWith(page, "model=llama");
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("Copy link copies the whole scenario and says so", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=70");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator(".toast").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await page.evaluate(() => location.href));
  const said = plain(await page.locator(".toast").textContent());
  assert.equal(said, `Link copied. ${copied.length} characters, the whole scenario.`);
  await page.locator(".toast").waitFor({ state: "detached" });
  noComplaints(complaints);
  await context.close();
});

test("letters: the list of keys, the table, another run, and how to switch them off", async () => {
  const { context, page, complaints } = await open(browser);
  const sheet = page.locator("#keys");
  const isOpen = () => sheet.evaluate((dialog) => dialog.open);
  await page.keyboard.press("?");
  assert.ok(await isOpen());
  assert.match(plain(await sheet.textContent()), /R ?run again/);
  await page.keyboard.press("t");
  await page.keyboard.press("Escape");
  assert.ok(!(await isOpen()), "Escape closes it");
  assert.equal(await page.locator(".knee table").count(), 0, "T works behind an open sheet");

  await page.keyboard.press("t");
  await page.locator(".knee table").waitFor();
  await page.keyboard.press("t");
  await page.locator(".knee table").waitFor({ state: "detached" });

  const runs = page.evaluate(
    () =>
      new Promise((resolve) => {
        const progress = document.querySelector(".answer .progress");
        new MutationObserver(() => progress.dataset.on === "true" && resolve(true)).observe(progress, {
          attributeFilter: ["data-on"],
        });
      }),
  );
  await page.keyboard.press("r");
  assert.ok(await runs, "R runs again");
  await settled(page);
  assert.equal((await answer(page)).hero, "6");

  // In a field they are letters.
  const { field } = control(page, "rate");
  await field.focus();
  for (const key of ["?", "t", "r"]) await page.keyboard.press(key);
  assert.ok(!(await isOpen()));
  assert.equal(await page.locator(".knee table").count(), 0);
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Keys" }).click();
  await sheet.getByRole("checkbox").uncheck();
  await sheet.getByRole("button", { name: "Close" }).click();
  await page.locator("#knee-title").click();
  await page.keyboard.press("t");
  assert.equal(await page.locator(".knee table").count(), 0, "T works though it is switched off");
  await page.reload();
  await settled(page);
  await page.keyboard.press("?");
  assert.ok(!(await isOpen()), "the choice is forgotten");
  noComplaints(complaints);
  await context.close();
});

test("the knee as a picture", async () => {
  const { context, page, complaints } = await open(browser);
  const download = page.waitForEvent("download");
  await page.locator(".panel-actions button", { hasText: "PNG" }).click();
  const file = await download;
  assert.equal(file.suggestedFilename(), "knee.png");
  const chunks = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk);
  const png = Buffer.concat(chunks);
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  assert.ok(width > 500 && height > 250, `${width} × ${height}`);
  assert.match(plain(await page.locator(".toast").textContent()), /Saved as knee\.png\./);
  noComplaints(complaints);
  await context.close();
});
