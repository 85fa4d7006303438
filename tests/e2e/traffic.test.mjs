// Traffic and engine: each group of settings stands in the link and changes the answer.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  choose,
  control,
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
  // One in a thousand would be longer than the model takes: cut as its link is, and told.
  await linkWith(page, "in=lognormal(600,2,1,131072)");
  assert.match(plain(await control(page, "in-spread").message.textContent()), /Using 131,072\.$/);
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
