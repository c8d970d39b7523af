// Debian's Chromium, and pages in it that talk to one origin only: the browser resolves no name, and a request to any
// other origin fails the test.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { chromium } from "./packages.mjs";

const flags = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--font-render-hinting=none", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
export const output = process.env.ESI_PAGE_OUTPUT ?? "build/page-tests/output";
/** For each thing that is waited for; on an idle machine most take some ms. */
export const patience = 60_000;
/** For a whole test. */
export const bounded = { timeout: 240_000 };

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: flags, timeout: patience });

/** Opens `origin`, lets `look(page, watched)` look at it, closes it, and asserts that nothing went wrong in it. */
export async function looking(browser, origin, { path = "/", width = 1280, height = 800, scheme = "light", motion = "no-preference", expected = [] }, look) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: motion, locale: "en-GB", timezoneId: "Europe/Berlin" });
  const watched = { strangers: [], errors: [], urls: [] };
  try {
    context.setDefaultTimeout(patience);
    context.on("request", (request) => {
      const url = request.url();
      watched.urls.push(url);
      if (new URL(url).origin !== origin && !url.startsWith("data:")) watched.strangers.push(url);
    });
    const page = await context.newPage();
    page.on("pageerror", (error) => watched.errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !expected.some((each) => message.text().includes(each))) watched.errors.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(origin + path);
    await look(page, watched);
  } finally {
    await context.close();
  }
  assert.ok(watched.urls.length > 0);
  assert.deepEqual(watched.strangers, [], "requests to another origin");
  assert.deepEqual(watched.errors, [], "errors in the page");
}

export async function picture(page, name) {
  mkdirSync(output, { recursive: true });
  await page.screenshot({ path: `${output}/${name}.png`, animations: "disabled" });
}

/** The counts of stats.js. */
export const statsOf = (page) => page.evaluate(async () => ({ ...(await import("/page/stats.js")).stats }));

export const live = (page) => page.locator("#connection", { hasText: "Live" }).waitFor();
