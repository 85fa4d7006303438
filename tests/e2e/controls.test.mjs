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

/** Opens a group of controls. */
async function unfold(page, name) {
  const fold = page.locator(".fold-button", { hasText: name });
  if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
  return fold;
}

/** Chooses from a list that opens. */
const choose = (page, id, label) =>
  page.locator(`#control-${id} select`).selectOption({ label });

test("bursts and lulls: their numbers stand in the link and change the answer", async () => {
  const { context, page, complaints } = await open(browser);
  const before = await answer(page);
  await unfold(page, "Arrivals");
  await page.locator("#control-pattern label", { hasText: "On/off" }).click();
  await linkWith(page, "arrivals=onoff(20s,60s,0.1)");
  await type(page, "burst", "1 min");
  await linkWith(page, "arrivals=onoff(60s,60s,0.1)");
  await control(page, "lull").slider.press("Home");
  await linkWith(page, "arrivals=onoff(60s,1s,0.1)");
  await control(page, "lull-share").slider.press("End");
  await linkWith(page, "arrivals=onoff(60s,1s,1)");
  await type(page, "lull-share", "20");
  await type(page, "lull", "90");
  await linkWith(page, "arrivals=onoff(60s,90s,0.2)");
  await type(page, "burst", "soon");
  const said = plain(await control(page, "burst").message.textContent());
  assert.match(said, /“soon” is not .*“Burst”.* 20 s\. Still using 60 s\./);
  assert.equal(await control(page, "burst").field.inputValue(), "soon", "what was typed is lost");
  await settled(page);
  assert.notDeepEqual((await answer(page)).facts, before.facts);
  // Another pattern and back: the numbers are as they were.
  await page.locator("#control-pattern label", { hasText: "Even" }).click();
  await linkWith(page, "arrivals=even");
  await page.locator("#control-pattern label", { hasText: "On/off" }).click();
  await linkWith(page, "arrivals=onoff(60s,90s,0.2)");
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("the rate over time: each kind has its numbers, the answer is for the peak", async () => {
  const { context, page, complaints } = await open(browser);
  const fold = await unfold(page, "Arrivals");
  const kinds = [
    ["Step", "profile=step(60s,2)", "profile-factor", "4", "profile=step(60s,4)"],
    ["Ramp", "profile=ramp(60s,600s,2)", "profile-to", "20min", "profile=ramp(60s,1200s,2)"],
    ["Spike", "profile=spike(60s,30s,2)", "profile-length", "1 min", "profile=spike(60s,60s,2)"],
    ["Daily curve", "profile=daily(0.3)", "profile-trough", "50", "profile=daily(0.5)"],
    ["Points", "profile=points(0s:1,600s:2)", "profile-points", "0s:1, 5min:3", "points(0s:1,300s:3)"],
  ];
  for (const [label, first, id, typed, then] of kinds) {
    await choose(page, "profile", label);
    await linkWith(page, first);
    await type(page, id, typed);
    await linkWith(page, then);
  }
  await settled(page);
  const said = await answer(page);
  assert.match(said.headline, /for 300 req\/s/, "the fleet is sized for the peak");
  assert.match(plain(await fold.textContent()), /Poisson, points/);
  await choose(page, "profile", "Constant");
  await settled(page);
  assert.equal((await answer(page)).hero, "6");
  noComplaints(complaints);
  await context.close();
});

test("lengths: fixed, uniform, lognormal, by quantiles; the median outlives the kind", async () => {
  const { context, page, complaints } = await open(browser, "v=1&in=quantiles(0:10,50:700,100:9000)");
  const fold = await unfold(page, "Lengths");
  assert.match(plain(await fold.textContent()), /Quantiles, fixed/);
  const quantiles = control(page, "in-quantiles").field;
  assert.equal(await quantiles.inputValue(), "0:10, 50:700, 100:9000");
  assert.equal(await control(page, "in").field.inputValue(), "700");
  await type(page, "in-quantiles", "0:10, 50:600, 100:9000");
  await linkWith(page, "in=quantiles(0:10,50:600,100:9000)");
  await type(page, "in-quantiles", "0:10, 50:5, 100:9000");
  assert.match(await control(page, "in-quantiles").message.textContent(), /below that of a smaller/);
  await choose(page, "in-lengths", "Fixed");
  await linkWith(page, "in=600");
  await choose(page, "in-lengths", "Lognormal");
  await linkWith(page, "in=lognormal(600,0.5)");
  await control(page, "in-spread").slider.press("End");
  await linkWith(page, "in=lognormal(600,2)");
  await type(page, "in-longest", "8000");
  await linkWith(page, "in=lognormal(600,2,1,8000)");
  await choose(page, "in-lengths", "Uniform");
  await linkWith(page, "in=uniform(300,900)");
  await type(page, "in-least", "1000");
  await linkWith(page, "in=uniform(1000,1000)");
  await type(page, "in", "600");
  await choose(page, "in-lengths", "Quantiles");
  await linkWith(page, "in=quantiles(0:10,50:600,100:9000)");
  await choose(page, "out-lengths", "Lognormal");
  await linkWith(page, "out=lognormal(256,0.5)");
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("a mix of classes: added, changed, refused, renamed, taken away, in the link and the answer", async () => {
  const { context, page, complaints } = await open(browser);
  const fold = await unfold(page, "Mix of requests");
  const row = (index) => page.locator(".class-row").nth(index);
  const field = (index, part) => row(index).locator(`.class-part[data-part=${part}] input`);
  const name = (index) => row(index).locator("input").first();
  const fill = async (input, text) => {
    await input.fill(text);
    await input.press("Enter");
  };
  await page.getByRole("button", { name: "Add a class" }).click();
  await linkWith(page, "class.class-1=share:20");
  await page.waitForFunction(() => document.activeElement.id.endsWith("-name"));
  await fill(name(0), "rag");
  await linkWith(page, "class.rag=share:20");
  await page.waitForFunction(() => document.activeElement.id.endsWith("-name"));
  await fill(field(0, "in"), "4000");
  await fill(field(0, "out"), "lognormal(300,0.6)");
  await fill(field(0, "ttft"), "2 s");
  await fill(field(0, "priority"), "-1");
  await linkWith(page, "class.rag=share:20,in:4000,out:lognormal(300,0.6),ttft:2000ms,priority:-1");
  assert.equal(await field(0, "tpot").getAttribute("placeholder"), "40ms");
  await settled(page);
  const told = plain(await page.locator(".remarks").textContent());
  assert.match(told, /rag, 20 %: TTFT 2 s, TPOT 40 ms; rest, 80 %: TTFT 1 s, TPOT 40 ms/);

  // What cannot be used stays to be mended, while other fields change.
  await fill(field(0, "tpot"), "fast");
  assert.match(plain(await row(0).textContent()), /“fast”/);
  await page.getByRole("button", { name: "Add a class" }).click();
  await fill(name(1), "rag");
  assert.match(plain(await row(1).textContent()), /There is a class “rag” already/);
  await fill(name(1), "chat");
  await linkWith(page, "class.chat=share:20");
  assert.equal(await field(0, "tpot").inputValue(), "fast", "what was typed is lost");
  await fill(field(0, "tpot"), "60");
  await linkWith(page, "tpot:60ms");

  await fill(field(1, "share"), "90");
  assert.match(plain(await page.locator(".class-total").textContent()), /add up to 110 %/);
  await page.waitForFunction(() => document.querySelector(".hero").textContent === "No answer");
  await fill(field(1, "share"), "80");
  await linkWith(page, "class.chat=share:80");
  assert.match(plain(await page.locator(".class-total").textContent()), /Every request/);
  assert.match(plain(await fold.textContent()), /chat, rag/);
  await settled(page);
  const link = await page.evaluate(() => location.hash.slice(1));
  const here = await answer(page);
  const elsewhere = await open(browser, link);
  assert.deepEqual(await answer(elsewhere.page), here);
  await elsewhere.context.close();

  await fill(field(0, "in"), "");
  await linkWith(page, "class.rag=share:20,out:");
  for (const _ of [1, 2]) await row(0).getByRole("button", { name: /Remove class/ }).click();
  await page.waitForFunction(() => !location.hash.includes("class."));
  assert.equal(await page.locator(".class-row").count(), 0);
  await page.keyboard.press("Control+z");
  await linkWith(page, "class.chat=share:80");
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("every batching rule changes the answer and stands in the link", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=3&in=200&out=100&sim.replications=4", { runs: 4 });
  const reference = await answer(page);
  const told = new Set([JSON.stringify(reference.facts)]);
  const rules = [
    ["vLLM 0.33", "sched.rules=vllm-0.33"],
    ["Static", "sched.rules=static"],
    ["Dynamic", "sched.rules=dynamic(0.02s)"],
    ["Sequential", "sched.rules=sequential"],
    ["vLLM 0.11", "sched.rules=vllm-0.11"],
  ];
  for (const [label, part] of rules) {
    await choose(page, "rules", label);
    await linkWith(page, part);
    await settled(page, 4);
    told.add(JSON.stringify((await answer(page)).facts));
    if (label === "Dynamic") {
      await control(page, "delay").slider.press("End");
      await linkWith(page, "sched.rules=dynamic(10s)");
      await type(page, "delay", "250ms");
      await linkWith(page, "sched.rules=dynamic(0.25s)");
    }
  }
  assert.ok(told.size >= 4, `only ${told.size} of six rules differ`);
  await choose(page, "rules", "Reference");
  await settled(page, 4);
  assert.deepEqual((await answer(page)).facts, reference.facts);
  noComplaints(complaints);
  await context.close();
});

test("vLLM’s rules have options of their own, and a shared prefix that a class may replace", async () => {
  const link = "v=1&rate=20&in=1000&out=60&sim.replications=4&class.chat=share:20";
  const { context, page, complaints } = await open(browser, link, { runs: 4 });
  await unfold(page, "Engine");
  const option = (id, label) => page.locator(`#control-${id} label`, { hasText: label });
  assert.equal(await option("policy", "By priority").count(), 0, "the reference has no policy");
  await choose(page, "rules", "vLLM 0.33");
  await settled(page, 4);
  const cold = await answer(page);
  assert.equal(await page.locator("#control-prefix").count(), 0, "a prefix needs the cache");
  await option("policy", "By priority").click();
  await linkWith(page, "sched.policy=priority");
  await option("async", "On").click();
  await linkWith(page, "sched.async=on");
  await option("prefix-cache", "On").click();
  await type(page, "prefix", "800");
  await linkWith(page, "sched.prefix_caching=on&prefix=800");
  await type(page, "long-prefill", "512");
  await type(page, "watermark", "5%");
  await linkWith(page, "sched.long_prefill_token_threshold=512&sched.watermark=5");
  await settled(page, 4);
  assert.notDeepEqual((await answer(page)).facts, cold.facts);
  await unfold(page, "Mix of requests");
  const prefix = page.locator("[data-part=prefix] input");
  await prefix.fill("400");
  await prefix.press("Enter");
  await linkWith(page, "class.chat=share:20,prefix:400");
  await choose(page, "rules", "Reference");
  await page.locator("#control-policy").waitFor({ state: "detached" });
  noComplaints(complaints);
  await context.close();
});

test("the KV cache is the catalogue’s until somebody types a size", async () => {
  const { context, page, complaints } = await open(browser);
  const { field, group } = control(page, "kv");
  assert.match(await field.getAttribute("placeholder"), /^\d{3},\d{3}$/);
  assert.equal(await field.inputValue(), "");
  const before = await answer(page);
  await type(page, "kv", "20k");
  await linkWith(page, "kv.capacity_tokens=20000");
  await settled(page);
  assert.notDeepEqual((await answer(page)).facts[2], before.facts[2]);
  await group.getByRole("button", { name: /^Auto/ }).click();
  await page.waitForFunction(() => !location.hash.includes("kv."));
  await settled(page);
  assert.deepEqual((await answer(page)).facts, before.facts);
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
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    order.push(now);
    const ring = await page.evaluate(() => {
      const { activeElement: at } = document;
      const shown = at.matches("input[type=text], input[type=radio]") ? at.closest("label") : at;
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
    "How we know",
    "Copy link",
    "Keys",
    "Theme: system",
    "model picker",
    "gpu picker",
    ...sliders(["rate", "in", "out", "ttft", "tpot"]),
    "share radio",
    ...sliders(["headroom"]),
    "fold Arrivals",
    "fold Lengths",
    "fold Mix of requests",
    "fold Engine",
    "rules select-one",
    ...sliders(["budget", "seqs"]),
    "kv text",
    "fold Accuracy",
    "PNG",
    "Table",
    "Request rate on the chart",
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
