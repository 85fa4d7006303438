// Scenarios without an answer: the page says why, offers the smallest changes, and applies them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  control,
  heroBecomes,
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

/** Applies each offered change in a page of its own: every one must bring an answer. */
async function everyRemedyWorks(link, remedies) {
  for (const [index, [name]] of remedies.entries()) {
    const { context, page, complaints } = await open(browser, link);
    await page.getByRole("button", { name: `Apply ${name}`, exact: true }).click();
    await heroBecomes(page, /^[\d,]+(–[\d,]+)?$/);
    await settled(page);
    const said = await answer(page);
    assert.match(said.hero, /^[\d,]+(–[\d,]+)?$/, `“${name}” was offered and does not work`);
    assert.equal(said.facts.length, 4, `remedy ${index + 1}`);
    noComplaints(complaints);
    await context.close();
  }
}

test("a model that does not fit: picked, refused, applied, sized", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator("#control-model .picker-button").click();
  await page.locator(".picker-search").fill("llama 70b");
  await page.locator(".picker-row", { hasText: "does not fit" }).first().click();
  await heroBecomes(page, /^Does not fit$/);
  const said = await answer(page);
  assert.equal(said.pill, "No answer");
  assert.match(said.paragraph, /has 1\d\d GiB of weights\. One H100 leaves 6\d(\.\d)? GiB/);
  assert.equal(said.remedies.length, 3);
  const instead = await page.locator(".plot-empty p").allTextContents();
  assert.deepEqual(instead.map(plain), [
    said.hero,
    said.paragraph,
    `Smallest change that works: ${said.remedies[0][0]}.`,
  ]);
  const { height } = await page.locator(".knee").boundingBox();
  assert.ok(height < 260, `the knee's card is ${height} px high for three lines`);
  await page.locator(".ledger-button", { hasText: "Where the numbers come from" }).click();
  const ledger = plain(await page.locator("#ledger").textContent());
  assert.ok(ledger.includes(said.paragraph) && ledger.includes(said.remedies[0][0]), ledger);
  assert.equal(await page.locator("#ledger table").count(), 0, "an empty table");
  assert.equal(await page.locator(".plot-cursor").count(), 0, "a cursor over no curve");
  const link = await linkWith(page, "model=llama-3.1-70b");
  await page.locator(".remedy .button").first().click();
  await heroBecomes(page, /^\d/);
  await settled(page);
  assert.match((await answer(page)).headline, /^\w+( GPUs?)? for 100 req\/s$/);
  assert.ok((await page.locator("#ledger tbody tr").count()) >= 10, "the ledger did not come back");
  noComplaints(complaints);
  await context.close();
  await everyRemedyWorks(link, said.remedies);
});

test("a target out of reach says which floor it is below", async () => {
  const link = "v=1&ttft=10ms";
  const { context, page, complaints } = await open(browser, link);
  const said = await answer(page);
  assert.equal(said.hero, "Out of reach");
  assert.match(said.paragraph, /At no load is TTFT under 10 ms: .* takes \d+(\.\d+)? ms\./);
  assert.ok(said.remedies.length > 0, "no change is offered");
  await type(page, "ttft", "1000");
  await heroBecomes(page, /^6$/);
  await type(page, "tpot", "1");
  await heroBecomes(page, /^Out of reach$/);
  assert.match((await answer(page)).paragraph, /At no load is TPOT under 1 ms/);
  noComplaints(complaints);
  await context.close();
  await everyRemedyWorks(link, said.remedies);
});

test("no room for one request says how much there is and how much it needs", async () => {
  const link = "v=1&kv.capacity_tokens=1000";
  const { context, page, complaints } = await open(browser, link);
  const said = await answer(page);
  assert.equal(said.hero, "No room");
  assert.match(said.paragraph, /holds 1,000 tokens of KV; one request needs 1,280/);
  assert.ok(said.remedies.length > 0, "no change is offered");
  await control(page, "in").field.fill("512");
  await control(page, "in").field.press("Enter");
  await heroBecomes(page, /^\d/);
  noComplaints(complaints);
  await context.close();
  await everyRemedyWorks(link, said.remedies);
});

test("what makes a prompt fit is offered with a target that it can meet", async () => {
  const link = "v=1&gpu=l4&in=100000";
  const { context, page, complaints } = await open(browser, link);
  const said = await answer(page);
  assert.equal(said.hero, "No room");
  assert.equal(said.remedies.length, 3);
  assert.match(said.remedies[0][0], /and/, "the target is moved, too");
  assert.equal(plain(await page.locator(".remedies-title").textContent()), "Smallest changes that work");
  noComplaints(complaints);
  await context.close();
  await everyRemedyWorks(link, said.remedies);
});

test("where nothing meets the target nothing is said to work", async () => {
  // A step for each token of the prompt: later than any target that can be set.
  const link = "v=1&gpu=l4&in=100000&sched.max_num_batched_tokens=1";
  const { context, page, complaints } = await open(browser, link);
  const said = await answer(page);
  assert.equal(said.hero, "No room");
  assert.match(said.paragraph, /no change that we know of meets the target/);
  const title = page.locator(".remedies-title");
  assert.equal(plain(await title.textContent()), "Smallest changes that make it fit");
  const instead = plain((await page.locator(".plot-empty p").allTextContents()).join(" "));
  assert.ok(!/that works/.test(instead), instead);
  assert.match(instead, /Change a setting to bring it back/);
  noComplaints(complaints);
  await context.close();
});

test("a typed step time that is in the way can be set back", async () => {
  const link = "v=1&step.overhead_s=2";
  const { context, page, complaints } = await open(browser, link);
  const said = await answer(page);
  assert.equal(said.hero, "Out of reach");
  assert.match(said.remedies[0][0], /auto/);
  noComplaints(complaints);
  await context.close();
  await everyRemedyWorks(link, said.remedies);
});

test("where there is no answer the fields still show what is computed, or say why not", async () => {
  const shown = async (page, id) => {
    const { field } = control(page, id);
    return [await field.getAttribute("placeholder"), await field.getAttribute("title")];
  };
  for (const [link, cache] of [
    // Given, there is nothing to compute.
    ["v=1&kv.capacity_tokens=1000", null],
    // Computed, and too little.
    ["v=1&model=qwen2.5-7b&gpu=l4&in=131000&out=72", /^[\d,]+$/],
    ["v=1&model=llama-3.1-70b", /^–$/],
  ]) {
    const { context, page, complaints } = await open(browser, link);
    assert.equal((await page.locator(".answer .fact").count()), 0, `${link} has an answer`);
    await page.locator(".fold-button", { hasText: "Accuracy" }).click();
    await control(page, "mfu").field.waitFor();
    assert.deepEqual(await shown(page, "mfu"), ["0.5", null], link);
    assert.deepEqual(await shown(page, "overhead"), ["0.0005", null], link);
    if (cache) {
      const [figure, reason] = await shown(page, "kv");
      assert.match(figure, cache, link);
      if (figure === "–") assert.match(plain(reason), /^No figure: .* weights/);
      else assert.equal(reason, null);
    }
    noComplaints(complaints);
    await context.close();
  }
});

test("a close call gives both numbers and offers a longer run", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=90&sim.requests=500");
  const said = await answer(page);
  if (said.pill !== "Close call") {
    // The preset's interval may come to lie within one GPU; then there is nothing to see here.
    assert.match(said.hero, /^\d+$/);
  } else {
    assert.match(said.hero, /^\d+–\d+$/);
    assert.match(said.paragraph, /needs [\d.]+ req\/s from each of \d+ GPUs\. .* run 4 times longer/);
    await page.locator(".paragraph .inline-action").click();
    await linkWith(page, "rate=90");
    await settled(page);
  }
  noComplaints(complaints);
  await context.close();
});

test("Esc leaves the closed form and offers to simulate", async () => {
  const { context, page, complaints } = await open(browser);
  // Long enough to be still under way when the key comes.
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  await type(page, "requests", "1000000");
  await page.keyboard.press("Escape");
  await page.locator(".inline-action", { hasText: "Simulate" }).waitFor();
  const said = await answer(page);
  assert.match(said.hero, /^≈ \d+$/);
  assert.match(said.qualifier, /^closed form only/);
  await type(page, "requests", "1000");
  await settled(page);
  assert.match((await answer(page)).hero, /^\d/);
  noComplaints(complaints);
  await context.close();
});
