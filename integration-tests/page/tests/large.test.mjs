// 5,000 slots while 50 changes a second come in. Times are reported; what is asserted are counts, which are the same on
// a busy machine.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import test, { after, before } from "node:test";
import { bounded, launch, live, looking, output, picture, statsOf } from "../lib/browser.mjs";
import { MockServer } from "../mock/server.mjs";

const testbed = "default/scheduler-slots";
// A busy machine gets fewer changes into a second, so a test ends when both are over.
const leastSeconds = 8;
const leastChanges = 60;
const report = {};
let browser;
before(async () => (browser = await launch()));
after(async () => {
  await browser.close();
  mkdirSync(output, { recursive: true });
  writeFileSync(`${output}/frames.json`, JSON.stringify(report, null, 2));
});

/** Frames of the screen while `act` runs: their count, the longest, and the share above 50 ms. */
async function frames(page, act) {
  await page.evaluate(() => {
    window.frameTimes = [];
    let last = performance.now();
    const next = (now) => {
      window.frameTimes.push(now - last);
      last = now;
      window.frameLoop = requestAnimationFrame(next);
    };
    window.frameLoop = requestAnimationFrame(next);
  });
  await act();
  const times = await page.evaluate(() => {
    cancelAnimationFrame(window.frameLoop);
    return window.frameTimes.slice(1);
  });
  const sorted = [...times].sort((a, b) => a - b);
  const at = (p) => Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))].toFixed(1));
  return { frames: times.length, p50: at(0.5), p99: at(0.99), longest: at(1), above_50_ms: Number((times.filter((each) => each > 50).length / times.length).toFixed(4)) };
}

async function visit(path, look) {
  const mock = await new MockServer({ slots: 5000 }).start();
  try {
    await looking(browser, mock.origin, { path, width: 1600, height: 900 }, (page) => look(page, mock));
  } finally {
    await mock.stop();
  }
}

for (const [name, hash] of Object.entries({ "map, all at a glance": `#/slots/${testbed}`, "map, with names": `#/slots/${testbed}?size=3`, "timeline": `#/timeline/${testbed}`, "table": `#/slots/${testbed}?form=table`, "overview": "#/overview" })) {
  test(`5,000 slots, 50 changes a second: ${name}`, bounded, () =>
    visit(`/${hash}`, async (page, mock) => {
      await live(page);
      await page.waitForTimeout(1500);
      const before = await statsOf(page);
      const events = mock.events_count;
      const changed = () => (mock.events_count - events) / 2;
      const began = performance.now();
      const seconds = () => (performance.now() - began) / 1000;
      const measured = await frames(page, async () => {
        const end = mock.churn(50);
        while (seconds() < leastSeconds || changed() < leastChanges) {
          assert.ok(seconds() < 20 * leastSeconds, `${changed()} changes came in ${seconds()} s`);
          await page.waitForTimeout(500);
        }
        end();
      });
      const lasted = seconds();
      await page.waitForTimeout(500);
      const now = await statsOf(page);
      const count = (what) => (now[what] ?? 0) - (before[what] ?? 0);
      const changes = changed();
      const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
      report[name] = { changes, ...measured, nodes, cells_painted: count("cells_painted"), paints_whole: count("paints_whole"), paints_partial: count("paints_partial"), nodes_inserted: count("nodes_inserted"), nodes_changed: count("nodes_changed"), slot_fetches: count("slot_fetches") };
      console.log(`${name}: ${JSON.stringify(report[name])}`);
      await picture(page, `large-${name.replaceAll(/\W+/g, "-")}`);

      assert.ok(nodes < 3000, `${nodes} elements`);
      assert.ok(count("slot_fetches") <= lasted / 2 + 2, `${count("slot_fetches")} times all rows`);
      if (name.startsWith("map")) {
        assert.ok(count("paints_whole") <= 2, `${count("paints_whole")} whole paints`);
        // A change is that of one job, which has 22 slots at most; each cell is painted when its job changes and when the
        // testbed operator's report follows.
        assert.ok(count("cells_painted") <= 3 * 22 * changes, `${count("cells_painted")} cells for ${changes} changes`);
        assert.ok(count("nodes_inserted") <= changes, `${count("nodes_inserted")} elements inserted`);
      }
      if (name === "overview") assert.ok(count("use_computed") > 0 && count("use_computed") <= lasted + 2, `the use over time was worked out ${count("use_computed")} times in ${lasted} s`);
      if (name === "timeline") assert.ok(count("rows_painted") <= count("paints_whole") * 60, "only what is seen is painted");
    }));
}

test("5,000 slots: scrolling and zooming paint what is seen and no more", bounded, () =>
  visit(`/#/slots/${testbed}?size=3`, async (page) => {
    await live(page);
    await page.waitForTimeout(1500);
    const before = await statsOf(page);
    const box = page.locator("#map-box");
    const height = await box.evaluate((each) => each.scrollHeight);
    const measured = await frames(page, async () => {
      for (let n = 1; n <= 60; ++n) {
        await box.evaluate((each, to) => each.scrollTo(0, to), (height / 60) * n);
        await page.waitForTimeout(16);
      }
    });
    const now = await statsOf(page);
    const whole = now.paints_whole - before.paints_whole;
    report.scrolling = { ...measured, paints_whole: whole, cells_painted: now.cells_painted - before.cells_painted };
    console.log(`scrolling: ${JSON.stringify(report.scrolling)}`);
    assert.ok(whole >= 20);
    assert.ok(now.cells_painted - before.cells_painted <= whole * 400, "cells out of sight are not painted");
    await page.locator("#map").focus();
    for (const key of ["-", "-", "-", "+", "End", "PageDown", "PageDown"]) await page.keyboard.press(key);
    await page.locator("#live", { hasText: /^Slot \d+, node-/ }).waitFor({ state: "attached" });
  }));
