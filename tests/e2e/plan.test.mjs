// Plan as a person uses it: the answer, a drag, typed values, undo, theme, table, ledger.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  control,
  kneeTable,
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

test("the page opens on a finished answer", async () => {
  const { context, page, complaints } = await open(browser);
  const said = await answer(page);
  assert.equal(said.hero, "6");
  assert.equal(said.headline, "H100 GPUs for 100 req/s");
  assert.equal(said.qualifier, "with 25 % headroom; 5 would do without");
  assert.equal(said.pill, "Stable");
  assert.match(said.gauge.join(", "), /^2[12]\.\d per GPU, 100 req\/s asked, 13\d carried$/);
  const labels = said.facts.map(([label]) => label);
  assert.deepEqual(labels, ["At the planned load", "What limits it", "KV cache", "How sure"]);
  for (const [label, value, line, second, secondLine] of said.facts) {
    for (const text of [value, line, second, secondLine]) {
      assert.match(text, /\w/, `${label} says nothing in one of its places`);
    }
  }
  noComplaints(complaints);
  await context.close();
});

test("a drag moves the number at once, shows ≈, then settles", async () => {
  const { context, page, complaints } = await open(browser);
  const { slider } = control(page, "rate");
  await slider.evaluate((range) => {
    const field = document.getElementById("field-rate");
    const hero = document.querySelector(".answer .hero");
    const seen = { heroes: [], frames: 0, late: [] };
    window.seen = seen;
    new MutationObserver(() => seen.heroes.push(hero.textContent)).observe(hero, {
      childList: true,
      characterData: true,
      subtree: true,
    });
    // After the page's own listeners, and in the frame that shows what they did.
    window.addEventListener("input", (event) => {
      if (event.target !== range) return;
      requestAnimationFrame(() => {
        seen.frames += 1;
        const spoken = range.getAttribute("aria-valuetext").split(" ")[0];
        if (field.value !== spoken) seen.late.push([field.value, spoken]);
      });
    });
  });
  const box = await slider.boundingBox();
  const y = box.y + box.height / 2;
  const thumb = await slider.evaluate((range) => Number(range.value) / Number(range.max));
  const at = box.x + 8 + thumb * (box.width - 16);
  await page.mouse.move(at, y);
  await page.mouse.down();
  for (let step = 1; step <= 20; step += 1) await page.mouse.move(at + step * 3, y);
  const held = await control(page, "rate").field.inputValue();
  assert.notEqual(held, "100", "the number did not follow the thumb");
  await page.mouse.up();
  await settled(page);
  const seen = await page.evaluate(() => window.seen);
  assert.ok(seen.frames >= 3, `only ${seen.frames} steps of the drag arrived`);
  assert.deepEqual(seen.late, [], "the number came later than the thumb");
  assert.ok(seen.heroes.some((hero) => hero.includes("≈")), `no ≈ in ${seen.heroes}`);
  const said = await answer(page);
  assert.match(said.headline, new RegExp(`for ${held} req/s$`));
  assert.match(said.hero, /^\d[\d,]*(–\d[\d,]*)?$/);
  assert.match(said.facts.at(-1).at(-1), /8 runs$/);
  noComplaints(complaints);
  await context.close();
});

test("while a slider is held no figure is of other settings, and no verdict is from one run", async () => {
  const { context, page, complaints } = await open(browser);
  const { slider } = control(page, "rate");
  const box = await slider.boundingBox();
  const at = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  const moment = () =>
    page.evaluate(() => {
      const text = (selector) => document.querySelector(selector)?.textContent ?? "";
      const all = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
      return {
        asked: text(".answer .headline"),
        field: document.getElementById("field-rate").value,
        hero: text(".answer .hero"),
        pill: text(".answer .pill"),
        figures: all(".fact .fact-value, .fact .fact-second, .readout b"),
      };
    });
  await at(0.6);
  await page.mouse.down();
  const moments = [];
  for (let step = 0; step < 60; step += 1) {
    await at(0.6 - step * 0.002);
    moments.push(await moment());
  }
  // Held still, the one run of a drag is what is shown.
  await page.waitForFunction(() =>
    document.querySelector(".fact .fact-value").textContent.startsWith("≈"),
  );
  const held = await moment();
  // At the rate that it began with, the answer of all runs is the present one.
  const moved = moments.filter(({ field }) => field !== "100");
  assert.ok(moved.length > 40, `only ${moved.length} moments of the drag`);
  for (const { asked, field, hero, pill, figures } of [...moved, held]) {
    assert.ok(plain(asked).endsWith(`for ${field} req/s`), `${plain(asked)} at ${field}`);
    assert.match(hero, /^≈/);
    assert.equal(pill, "Estimating…");
    for (const figure of figures) {
      const isComputed = /^(Compute|Bandwidth|Published formula|\S+ requests?)$/u.test(figure);
      assert.ok(/^(≈.*|–|)$/u.test(figure) || isComputed, `“${figure}” at ${field} req/s`);
    }
  }
  await page.mouse.up();
  await settled(page);
  const said = await answer(page);
  assert.match(said.pill, /^(Stable|Close call)$/);
  assert.doesNotMatch(JSON.stringify(said), /≈/);
  noComplaints(complaints);
  await context.close();
});

/** Records every text that hero, headline, facts and legend take, with the setting beside it. */
const watch = (page, field) =>
  page.evaluate((id) => {
    const texts = (selector) =>
      [...document.querySelectorAll(selector)].map((element) => element.textContent);
    const seen = [];
    window.seen = seen;
    const look = () => {
      const now = {
        setting: document.getElementById(id).value,
        hero: texts(".answer .hero")[0],
        words: texts(".answer .headline, .answer .qualifier"),
        figures: texts(".fact-value, .fact-second, .readout b"),
        isDim: document.querySelector(".plot canvas").classList.contains("stale"),
      };
      if (JSON.stringify(seen.at(-1)) !== JSON.stringify(now)) seen.push(now);
    };
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(look).observe(document.body, all);
  }, field);

for (const [id, from, to] of [["rate", 0.6, 0.75], ["in", 0.4, 0.6], ["ttft", 0.55, 0.4]]) {
  test(`three seconds of dragging ${id}: nothing blinks, and no number goes back on itself`, async () => {
    const { context, page, complaints } = await open(browser);
    await watch(page, `field-${id}`);
    const { slider } = control(page, id);
    const box = await slider.boundingBox();
    const at = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    await at(from);
    await page.mouse.down();
    const STEPS = 60;
    for (let step = 0; step <= STEPS; step += 1) {
      await at(from + ((to - from) * step) / STEPS);
      await page.waitForTimeout(3_000 / STEPS);
    }
    const held = (await page.evaluate(() => window.seen)).slice();
    await page.mouse.up();
    await settled(page);
    const seen = await page.evaluate(() => window.seen);
    const settings = [...new Set(held.map(({ setting }) => setting))];
    assert.ok(settings.length >= 5, `only ${settings.length} settings were met`);
    for (const { setting, hero, words, figures } of seen) {
      for (const text of [hero, ...words, ...figures]) {
        assert.ok(plain(text) !== "" && !/–$|closed form/u.test(plain(text)), `“${text}” at ${setting}`);
      }
    }
    // While the slider is held all that depends on the simulation is marked, and the chart dimmed.
    const began = held[0].setting;
    for (const { setting, hero, words, figures, isDim } of held.filter((m) => m.setting !== began)) {
      assert.match(hero, /^≈/u, setting);
      assert.match(words[1], /; ≈/u, setting);
      assert.ok(isDim, `the chart at ${setting} is not dimmed`);
      for (const figure of figures) {
        const isComputed = /^(Compute|Bandwidth|Published formula|[\d,]+ requests?)$/u.test(figure);
        assert.ok(figure.startsWith("≈") || isComputed, `“${figure}” at ${setting}`);
      }
    }
    // Of one setting each number comes closer, and none comes back once another took its place.
    for (const setting of settings) {
      const heroes = seen.filter((moment) => moment.setting === setting).map(({ hero }) => hero);
      const changes = heroes.filter((hero, index) => hero !== heroes[index - 1]);
      assert.equal(new Set(changes).size, changes.length, `${setting}: ${changes.join(" → ")}`);
    }
    noComplaints(complaints);
    await context.close();
  });
}

test("one undo takes back one control, however fast the keys came", async () => {
  const { context, page, complaints } = await open(browser);
  const value = async (id) => control(page, id).field.inputValue();
  const values = async () => [await value("rate"), await value("headroom")];
  const undo = page.getByRole("button", { name: "Undo" });
  await control(page, "headroom").slider.focus();
  await page.evaluate(() => {
    // Both within one rest, as no driver of a browser is fast enough for.
    const press = (id) => {
      const range = document.querySelector(`#control-${id} input[type=range]`);
      range.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    };
    for (const id of ["rate", "rate", "headroom"]) press(id);
  });
  assert.deepEqual(await values(), ["102", "26"]);
  await undo.click();
  assert.deepEqual(await values(), ["102", "25"]);
  await undo.click();
  assert.deepEqual(await values(), ["100", "25"], "a held key is one step");
  assert.ok(await undo.isDisabled());
  // What is typed is a step each time.
  for (const typed of ["120", "140"]) await type(page, "rate", typed);
  await undo.click();
  assert.deepEqual(await values(), ["120", "25"]);
  await undo.click();
  assert.deepEqual(await values(), ["100", "25"]);
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("typed values may carry units and suffixes", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  for (const [id, typed, shown, link] of [
    ["rate", "1.5k", "1,500", "rate=1500"],
    ["rate", "1e3", "1,000", "rate=1000"],
    ["rate", "120 req/s", "120", "rate=120"],
    ["ttft", "2 s", "2,000", "ttft=2000ms"],
    ["tpot", "0.5ms", "0.5", "tpot=0.5ms"],
    ["tpot", "0.05 s", "50", "tpot=50ms"],
    ["in", "4096 tokens", "4,096", "in=4096"],
    ["out", "0.5k", "500", "out=500"],
    ["headroom", "30%", "30", "headroom=30"],
    ["overhead", "0.6ms", "0.0006", "step.overhead_s=0.0006"],
    ["mfu", "45%", "0.45", "step.mfu=0.45"],
  ]) {
    await type(page, id, typed);
    const { field, message } = control(page, id);
    assert.equal(await field.inputValue(), shown, `${typed} in ${id}`);
    assert.equal(await message.count(), 0, `${typed} in ${id} was not taken as written`);
    await linkWith(page, link);
  }
  noComplaints(complaints);
  await context.close();
});

test("nonsense keeps the text and the last good value, and says so", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=90");
  for (const text of ["abc", "NaN", "3 apples", "5 ms", "1,2,3,x", "<b>7</b>", ""]) {
    await type(page, "rate", text);
    const { field, slider, message } = control(page, "rate");
    assert.equal(await field.inputValue(), text);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.match(plain(await message.textContent()), /Still using 90\b/);
    assert.equal(await slider.getAttribute("aria-valuetext"), "90 requests per second");
  }
  // Escape gives the field its value back.
  await control(page, "rate").field.press("Escape");
  assert.equal(await control(page, "rate").field.inputValue(), "90");
  assert.equal(await control(page, "rate").message.count(), 0);
  noComplaints(complaints);
  await context.close();
});

test("a value out of range keeps the text, is clamped, and says so", async () => {
  const { context, page, complaints } = await open(browser);
  for (const [id, text, said, spoken] of [
    ["rate", "20000", "Most we simulate is 10,000 req/s. Using 10,000.", "10,000 requests per second"],
    ["rate", "0.05", "Least we simulate is 0.1 req/s. Using 0.1.", "0.1 requests per second"],
    ["headroom", "250", "Most we simulate is 100 %. Using 100.", "100 percent"],
    ["tpot", "1e9", "Most we simulate is 60,000 ms. Using 60,000.", "60,000 milliseconds"],
    ["seqs", "1.5", "Max sequences is a whole number from 1 to 65,536, for example 256. Using 2.", "2 sequences"],
  ]) {
    await type(page, id, text);
    const { field, slider, message } = control(page, id);
    assert.equal(await field.inputValue(), text);
    assert.equal(plain(await message.textContent()), said);
    assert.equal(await slider.getAttribute("aria-valuetext"), spoken);
  }
  // Moving the slider takes text and message back.
  await control(page, "rate").slider.press("ArrowRight");
  assert.equal(await control(page, "rate").message.count(), 0);
  noComplaints(complaints);
  await context.close();
});

test("undo and redo, by button and by key", async () => {
  const { context, page, complaints } = await open(browser);
  const undo = page.getByRole("button", { name: "Undo" });
  const redo = page.getByRole("button", { name: "Redo" });
  const rate = () => control(page, "rate").field.inputValue();
  assert.ok(await undo.isDisabled());
  for (const value of ["120", "140"]) {
    const before = await page.evaluate(() => history.length);
    await type(page, "rate", value);
    // A step is there once it has settled, and then it is an entry of the history too.
    await page.waitForFunction((length) => history.length > length, before);
  }
  await undo.click();
  assert.equal(await rate(), "120");
  await undo.click();
  assert.equal(await rate(), "100");
  assert.ok(await undo.isDisabled());
  await redo.click();
  assert.equal(await rate(), "120");
  await page.locator("#answer").focus();
  await page.keyboard.press("Control+Shift+Z");
  assert.equal(await rate(), "140");
  assert.ok(await redo.isDisabled());
  await page.keyboard.press("Control+Z");
  assert.equal(await rate(), "120");
  await settled(page);
  assert.match((await answer(page)).headline, /120 req\/s/);
  noComplaints(complaints);
  await context.close();
});

test("in a field Ctrl+Z takes back what is being typed, then the last setting", async () => {
  const { context, page, complaints } = await open(browser);
  const { field, message } = control(page, "rate");
  const inForce = () => page.locator("#control-rate input[type=range]").getAttribute("aria-valuetext");
  await type(page, "rate", "120");
  await type(page, "rate", "140");
  // Nothing is being typed: the key is the page's, with the focus still in the field.
  await field.press("Control+Z");
  assert.equal(await field.inputValue(), "120");
  await field.press("Control+Shift+Z");
  assert.equal(await field.inputValue(), "140");
  // What is being typed is the browser's to undo, and no setting changes.
  await field.press("End");
  await page.keyboard.type("5");
  assert.equal(await field.inputValue(), "1405");
  await field.press("Control+Z");
  assert.equal(await field.inputValue(), "140");
  assert.match(await inForce(), /^140 /);
  await field.press("Control+Z");
  assert.equal(await field.inputValue(), "120");
  // Leaving the field commits nothing that is not in it.
  await page.locator("#answer").focus();
  assert.match(await inForce(), /^120 /);
  assert.equal(await field.inputValue(), "120");
  // What was refused goes as a whole.
  await type(page, "rate", "abc");
  await message.waitFor();
  await field.press("Control+Z");
  assert.equal(await field.inputValue(), "120");
  assert.equal(await message.count(), 0);
  assert.match(await inForce(), /^120 /);
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("the theme goes round and is kept", async () => {
  const { context, page, complaints } = await open(browser, "", { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const theme = page.locator("button[aria-label^='Theme: ']");
  const name = () => theme.getAttribute("aria-label");
  // A pixel of the chart in which nothing is drawn but a line's colour: any that is opaque.
  const ink = () =>
    page.locator(".plot canvas").first().evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const sum = [0, 0, 0];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 200) for (const c of [0, 1, 2]) sum[c] += data[at + c];
      }
      return sum.join();
    });
  assert.equal(await name(), "Theme: system");
  const light = await ground();
  await theme.click();
  assert.equal(await name(), "Theme: light");
  const lightInk = await ink();
  await theme.click();
  assert.equal(await name(), "Theme: dark");
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.notEqual(await ink(), lightInk, "the chart kept the colours of the light theme");
  await page.reload();
  await settled(page);
  assert.equal(await name(), "Theme: dark");
  assert.equal(await ground(), dark);
  await theme.click();
  assert.equal(await name(), "Theme: system");
  assert.equal(await ground(), light);
  noComplaints(complaints);
  await context.close();
});

test("the table says what the chart's cursor says", async () => {
  const { context, page, complaints } = await open(browser);
  const rows = await kneeTable(page);
  assert.ok(rows.length >= 12, `${rows.length} points`);
  const cursor = page.locator(".plot-cursor");
  await cursor.focus();
  await cursor.press("Home");
  const short = (text) =>
    plain(text).replaceAll("milliseconds", "ms").replaceAll(/\bseconds\b/g, "s");
  for (const [index, [rate, , ttft, tpot, , goodput]] of rows.entries()) {
    if (index > 0) await cursor.press("ArrowRight");
    const spoken = short(await cursor.getAttribute("aria-valuetext"));
    const stable = `${rate} requests per second: TTFT P99 ${ttft}; TPOT P99 ${tpot}; goodput ${goodput}`;
    const expected = ttft.includes("withheld")
      ? `${rate} requests per second: unstable, P99 withheld`
      : stable;
    assert.equal(spoken, expected);
    const read = plain(await page.locator(".readout").textContent());
    assert.ok(read.startsWith(`At ${rate} req/s`), `${read} is not about ${rate}`);
  }
  await cursor.press("ArrowRight");
  assert.ok((await cursor.getAttribute("aria-valuetext")).startsWith(rows.at(-1)[0]));
  await cursor.press("Escape");
  assert.match(plain(await page.locator(".readout").textContent()), /^At 16\.7 req\/s/);
  noComplaints(complaints);
  await context.close();
});

test("the ledger names value, kind and source of each number, in units that read well", async () => {
  const { context, page, complaints } = await open(browser);
  const button = page.locator(".ledger-button", { hasText: "Where the numbers come from" });
  assert.equal(await button.getAttribute("aria-expanded"), "false");
  await button.click();
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  const rows = await page
    .locator(".ledger tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.ok(rows.length >= 10, `${rows.length} rows`);
  for (const [name, value, kind, source] of rows.map((row) => row.map(plain))) {
    assert.match(value, /\d/, name);
    assert.doesNotMatch(value, /\d,\d{3},\d{3},\d{3}/, `${name} is hard to read: ${value}`);
    assert.match(kind, /\w/, name);
    assert.match(source, /\w/, name);
  }
  assert.match(rows.flat().map(plain).join("\n"), /\b989 TFLOP\/s\b/);
  noComplaints(complaints);
  await context.close();
});
