// What the page says of settings that it does not take as they are, or that do not do what one
// would expect; and that the focus, the spoken word and the picture are left in good order.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  choose,
  control,
  heroBecomes,
  linkWith,
  noComplaints,
  open,
  plain,
  settled,
  type,
  unfold,
} from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const TOO_LONG = "Prompt 200,000 is longer than this model’s 131,072 tokens. Using 131,072.";
const cautions = async (page) =>
  (await page.locator(".cautions li").allTextContents()).map(plain);
const active = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
const spoken = (page, wanted) =>
  page.waitForFunction(
    (source) =>
      [...document.querySelectorAll("p[role=status].hidden-but-read")].some((p) =>
        new RegExp(source, "u").test(p.textContent.replace(/\s+/gu, " ")),
      ),
    wanted.source,
  );

test("a prompt beyond the context is cut as its link is, and a reload shows the same", async () => {
  const { context, page, complaints } = await open(browser);
  await type(page, "in", "200000");
  const { field, message } = control(page, "in");
  assert.equal(plain(await message.textContent()), TOO_LONG);
  assert.equal(await field.inputValue(), "200000", "what was typed is gone");
  const link = await linkWith(page, "in=131072");
  await settled(page);
  const typed = await answer(page);
  await page.reload();
  await settled(page);
  assert.deepEqual(await answer(page), typed);
  assert.equal(await page.evaluate(() => location.hash.slice(1)), link);
  // The sum with the answer is told, with a way out.
  const [told] = await cautions(page);
  assert.match(told, /^Every request exceeds .* the longest has 131,328\. .* Set in=130816 to stay/);
  await type(page, "in", "130816");
  await page.locator(".cautions").waitFor({ state: "detached" });
  noComplaints(complaints);
  await context.close();
});

test("a model with a shorter context cuts what is set, and says so", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=1&in=40000&ttft=60s");
  await page.locator("#control-model .picker-button").click();
  await page.locator(".picker-search").fill("mistral 7b");
  await page.locator(".picker-row").first().click();
  await linkWith(page, "in=32768");
  await page.locator(".cautions").waitFor();
  assert.equal(
    (await cautions(page))[0],
    "Prompt 40,000 is longer than this model’s 32,768 tokens. Using 32,768.",
  );
  // A slider beyond it is told beside the field.
  await control(page, "in").slider.press("End");
  assert.match(plain(await control(page, "in").message.textContent()), /Using 32,768\.$/);
  await linkWith(page, "in=32768");
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("negative numbers are refused, and nothing is lost", async () => {
  const { context, page, complaints } = await open(browser);
  await unfold(page, "Accuracy");
  for (const [id, name] of [
    ["rate", "Request rate"],
    ["in", "Prompt"],
    ["out", "Answer"],
    ["ttft", "TTFT at most"],
    ["headroom", "Headroom"],
    ["seed", "Seed"],
  ]) {
    await type(page, id, "-5");
    const { field, message } = control(page, id);
    const said = plain(await message.textContent());
    assert.ok(said.startsWith(`“-5” is less than 0. For “${name}” give for example`), said);
    assert.match(said, /Still using /);
    assert.equal(await field.inputValue(), "-5", id);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    await field.press("Escape");
  }
  assert.equal(await linkWith(page, "v=1"), "v=1&rev=1");
  assert.equal((await answer(page)).hero, "6");
  noComplaints(complaints);
  await context.close();
});

test("what a field refused or moved outlives a reload and the way back", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=90");
  const seen = async (id) => {
    const { field, message } = control(page, id);
    await message.waitFor();
    return [await field.inputValue(), plain(await message.textContent())];
  };
  await type(page, "rate", "3 apples");
  await type(page, "headroom", "250");
  await linkWith(page, "headroom=100");
  await settled(page);
  const [rate, headroom] = [await seen("rate"), await seen("headroom")];
  assert.match(rate[1], /Still using 90/);
  assert.match(headroom[1], /Using 100/);
  const hash = await page.evaluate(() => location.hash);
  assert.doesNotMatch(hash, /apples|250/, "the address holds what is in force");
  await page.reload();
  await settled(page);
  assert.deepEqual([await seen("rate"), await seen("headroom")], [rate, headroom]);
  assert.equal(await page.evaluate(() => location.hash), hash);
  // Another value takes its place, and going back brings it again.
  await type(page, "rate", "70");
  await linkWith(page, "rate=70");
  assert.equal(await control(page, "rate").message.count(), 0);
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("field-rate").value === "3 apples");
  assert.deepEqual(await seen("rate"), rate);
  await page.goForward();
  await page.waitForFunction(() => document.getElementById("field-rate").value === "70");
  assert.equal(await control(page, "rate").message.count(), 0);
  noComplaints(complaints);
  await context.close();
});

test("what a link held that is not used is told again after a reload, until it is dismissed", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=3%20apples&foo=1");
  const told = async () => {
    await page.locator(".notice").waitFor();
    await page.locator(".notice").getByRole("button", { name: "Show" }).click();
    return (await page.locator(".notice li").allTextContents()).map(plain);
  };
  const before = await told();
  assert.match(before[0], /3 apples/);
  assert.match(before[1], /foo/);
  await page.reload();
  await settled(page);
  assert.deepEqual(await told(), before);
  await page.locator(".notice").getByRole("button", { name: "Dismiss" }).click();
  // Once it is written down.
  await page.waitForFunction(() => !(history.state ?? "").includes("apples"));
  await page.reload();
  await settled(page);
  assert.equal(await page.locator(".notice").count(), 0);
  noComplaints(complaints);
  await context.close();
});

for (const [width, height] of [[1440, 900], [390, 844]]) {
  test(`at ${width} px the longest lengths can be read in their fields`, async () => {
    const { context, page, complaints } = await open(browser, "v=1&in=131072&rate=1&ttft=60s", {
      viewport: { width, height },
    });
    if (width < 600) await page.locator(".sheet-foot button").click();
    const { field } = control(page, "in");
    const isWhole = () => field.evaluate((input) => input.scrollWidth <= input.clientWidth + 1);
    assert.equal(await field.inputValue(), "131,072");
    assert.ok(await isWhole(), "131,072 is cut");
    for (const text of ["10,000,000", "lognormal(512,0.9)"]) {
      await field.fill(text);
      assert.ok(await isWhole(), `${text} is cut`);
    }
    await field.press("Escape");
    noComplaints(complaints);
    await context.close();
  });

  test(`at ${width} px the messages of a class stand one beneath the other`, async () => {
    const { context, page, complaints } = await open(browser, "v=1&class.a=share:20", {
      viewport: { width, height },
    });
    if (width < 600) await page.locator(".sheet-foot button").click();
    await unfold(page, "Mix of requests");
    const long = "soon".repeat(20);
    for (const [part, text] of [
      ["share", "most"],
      ["in", "lognormal(5,x)"],
      ["out", "-3"],
      ["ttft", long],
      ["tpot", "-4"],
      ["priority", "high"],
    ]) {
      const field = page.locator(`.class-part[data-part=${part}] input`);
      await field.fill(text);
      await field.press("Enter");
    }
    await page.locator("#class-0-name").fill("two words");
    await page.locator("#class-0-name").press("Enter");
    const messages = page.locator(".class-row .control-message");
    assert.equal(await messages.count(), 7);
    const boxes = await messages.evaluateAll((all) =>
      all.map((message) => {
        const { top, bottom, left } = message.getBoundingClientRect();
        const row = message.closest(".class-row").getBoundingClientRect();
        const range = document.createRange();
        range.selectNodeContents(message);
        const text = range.getBoundingClientRect();
        return { top, bottom, out: text.right > row.right || left < row.left };
      }),
    );
    boxes.sort((a, b) => a.top - b.top);
    for (const [index, { top, out }] of boxes.entries()) {
      assert.ok(!out, `message ${index} runs out of its class`);
      assert.ok(index === 0 || top >= boxes[index - 1].bottom - 1, `message ${index} lies on another`);
    }
    noComplaints(complaints);
    await context.close();
  });
}

test("a setting without effect is told, until it has one", async () => {
  const link = "v=1&rate=20&sched.prefix_caching=on&prefix=500";
  const { context, page, complaints } = await open(browser, link);
  assert.deepEqual(await cautions(page), [
    "Prefix cache (sched.prefix_caching=on) has no effect under sched.rules=reference; set sched.rules=vllm-0.33 to use it.",
    "Shared prefix (prefix=500) has no effect under sched.rules=reference; set sched.rules=vllm-0.33 to use it.",
  ]);
  // What is dismissed stays away, and the focus is not lost with it.
  await page.locator(".cautions button").press("Enter");
  await page.locator(".cautions").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement.id === "answer");
  await control(page, "rate").slider.press("ArrowRight");
  await settled(page);
  assert.deepEqual(await cautions(page), []);
  await choose(page, "rules", "vLLM 0.33");
  await settled(page);
  await choose(page, "rules", "Static");
  await page.locator(".cautions").waitFor();
  assert.equal((await cautions(page)).length, 2);
  noComplaints(complaints);
  await context.close();
});

test("a change that is applied by keyboard leaves the focus at the answer", async () => {
  const { context, page, complaints } = await open(browser, "v=1&model=llama-3.1-70b");
  await spoken(page, /^Does not fit\. Llama-3\.1-70B-Instruct has 131 GiB/);
  await page.locator(".remedy .button").first().press("Enter");
  await heroBecomes(page, /^\d/);
  assert.equal(await active(page), "answer");
  await settled(page);
  await type(page, "rate", "0.5");
  await settled(page);
  await spoken(page, /^1 B200 GPU\. P99 time to first token/);
  // Giving a figure back to the catalogue takes the button away: the field is next to it.
  await type(page, "kv", "90000");
  await page.locator("#control-kv .control-back").press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "field-kv");
  noComplaints(complaints);
  await context.close();
});

test("where no memory is modelled no number of requests is said to fit", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=5&step.kind=queue-model");
  const cache = (await answer(page)).facts[2];
  assert.deepEqual(cache.filter(Boolean), ["KV cache", "Not modelled", "by this step time"]);
  noComplaints(complaints);
  await context.close();
});

test("the browser has nothing to warn of", async () => {
  const warnings = [];
  const prepare = async (page) => {
    page.on("console", (message) => warnings.push(`${message.type()}: ${message.text()}`));
  };
  const { context, page } = await open(browser, "", { prepare });
  await page.waitForTimeout(4_000);
  assert.deepEqual(warnings, []);
  await context.close();
});

test("the picture has a head that says what it is of", async () => {
  const { context, page, complaints } = await open(browser, "", { acceptDownloads: true });
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "PNG" }).click();
  const bytes = await readFile(await (await saved).path());
  const found = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    const chart = document.querySelector(".plot canvas");
    const head = image.height - chart.height - 32;
    /** How many pixels of a strip are not of the ground. */
    const ink = (top, height) => {
      const { data } = drawing.getImageData(0, top, image.width, height);
      let number = 0;
      for (let at = 0; at < data.length; at += 4) number += data[at] < 128 ? 1 : 0;
      return number;
    };
    return { head, title: ink(16, 26), first: ink(42, 18), second: ink(60, 18) };
  }, bytes.toString("base64"));
  assert.ok(found.head >= 60 && found.title > 300, JSON.stringify(found));
  assert.ok(found.first > 100 && found.second > 100, JSON.stringify(found));
  noComplaints(complaints);
  await context.close();
});

test("on a phone every change is shown, and the table can be moved sideways", async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
  const { context, page, complaints } = await open(browser, "v=1&model=llama-3.1-70b", phone);
  const remedies = page.locator(".remedy");
  assert.equal(await remedies.count(), 3);
  const card = await page.locator(".answer").boundingBox();
  for (const remedy of await remedies.all()) {
    const { y, height } = await remedy.boundingBox();
    assert.ok(y >= card.y && y + height <= card.y + card.height + 1, "a change lies outside the card");
    for (const text of await remedy.locator("span").all()) {
      assert.ok(await text.isVisible());
      assert.ok(await text.evaluate((e) => e.scrollWidth <= e.clientWidth + 1), "a change is cut");
    }
  }
  await page.locator(".remedy .button").first().click();
  await heroBecomes(page, /^\d/);
  await settled(page);
  await page.locator(".knee .panel-actions button", { hasText: "Table" }).click();
  const table = page.locator(".plot .table-scroll");
  const rate = table.locator("tbody th").first();
  const [before, last] = [await rate.boundingBox(), table.locator("tbody tr").first().locator("td").last()];
  assert.match(await table.evaluate((e) => getComputedStyle(e).backgroundImage), /gradient/);
  await table.evaluate((e) => e.scrollTo(e.scrollWidth, 0));
  const { x, width } = await last.boundingBox();
  const box = await table.boundingBox();
  assert.ok(x + width <= box.x + box.width + 1, "the last column cannot be reached");
  assert.equal((await rate.boundingBox()).x, before.x, "the rate is gone");
  noComplaints(complaints);
  await context.close();
});
