// Photographs results in their viewers: `node viewers.mjs BROWSER FOLDER PICTURES [NAME ...]`, for docs/viewers.sh.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";

const [browser, folder, pictures, ...names] = process.argv.slice(2);
const wants = (name) => names.length === 0 || names.includes(name);
const { chromium } = createRequire(path.join(folder, "/"))("./playwright-core");

const types = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm",
  ".json": "application/json", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".png": "image/png",
};
// The trace that its viewer gets.
let trace = "trace.json";
const server = http.createServer((request, response) => {
  let name = decodeURIComponent(new URL(request.url, "http://here").pathname);
  // The viewer of traces asks its server for them.
  if (name.endsWith("_info")) {
    response.writeHead(200, { "content-type": types[".json"] }).end("{}");
    return;
  }
  if (name === "/localtrace") name = "/" + trace;
  if (name === "/" || name.startsWith("/v")) name = "/perfetto" + name;
  if (name.endsWith("/")) name += "index.html";
  const file = path.join(folder, path.normalize(name));
  if (!fs.existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": types[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(response);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const here = `http://127.0.0.1:${server.address().port}`;

const running = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu"] });
const photograph = async (name, url, act, height = 560, window = 560) => {
  if (!wants(name)) return;
  const page = await running.newPage({ viewport: { width: 1000, height: window } });
  page.setDefaultTimeout(120000);
  page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
  await page.goto(url.startsWith("/") ? here + url : url, { waitUntil: "commit" });
  await act(page);
  // Drawn on a canvas, some time after the data are there.
  await page.waitForTimeout(3000);
  const clip = { x: 0, y: window - height, width: 1000, height };
  await page.screenshot({ path: path.join(pictures, `${name}.png`), clip });
  await page.close();
};

// The roots are at the bottom.
const roots = (page) => page.evaluate(() => {
  const picture = document.documentElement;
  const height = picture.height.baseVal.value;
  picture.setAttribute("style", `margin-top: ${Math.min(560 - height, 0)}px`);
  window.scrollTo(0, height);
});
await photograph("flame-graph", "/cpu.svg", roots, 380);
await photograph("allocations", "/alloc.svg", roots, 380);
// Small ones, as they are.
await photograph("locks", "/locks.svg", roots, 120, 120);
await photograph("triggers", "/triggers.svg", roots, 150, 150);

// The lines of which some are not covered.
const line = (number) => async (page) => {
  await page.waitForLoadState();
  await page.evaluate((number) => {
    // genhtml 1 and 2 have other anchors.
    const found = document.querySelector(`#L${number}, a[name="${number}"]`);
    window.scrollTo(0, found.getBoundingClientRect().top + window.scrollY - 330);
  }, number);
};
await photograph("coverage", "/coverage/0.html", line(245));
const genhtml = path.join(folder, "genhtml");
const sources = fs.existsSync(genhtml) ? fs.readdirSync(genhtml, { recursive: true }) : [];
const source = sources.find((name) => name.endsWith("Sample.cs.gcov.html"));
await photograph("coverage-genhtml", `/genhtml/${source}`, line(245));

await photograph("speedscope", "/speedscope/dist/release/", async (page) => {
  await page.setInputFiles("input[type=file]", path.join(folder, "cpu.json"));
});

// One track for all, and one for the process, which has those of its threads below it. If they are few, they are shown at once, and the
// first track is that of the process.
const opened = (name) => async (page) => {
  const tracks = page.locator(".pf-track");
  await tracks.nth(1).waitFor();
  await tracks.getByText(name).first().waitFor();
  const closed = tracks.nth(1).getByText(name);
  if (await closed.count()) await closed.first().click();
  await tracks.nth(2).waitFor();
};
await photograph("trace", "/", opened(/^dotnet/));

// The second order of the service: the first one has everything compiled and loaded.
if (wants("service")) {
  const { traceEvents, ...rest } = JSON.parse(fs.readFileSync(path.join(folder, "service.json")));
  const order = Math.max(...traceEvents.map((event) => event.args?.trace ?? 0));
  const ids = new Set(traceEvents.filter((event) => event.args?.trace === order).map((event) => event.id));
  const kept = traceEvents.filter((event) => event.ph === "M" || (event.id ? ids.has(event.id) : event.args.trace === order));
  fs.writeFileSync(path.join(folder, "order.json"), JSON.stringify({ ...rest, traceEvents: kept }));
}
trace = "order.json";
await photograph("service", "/", async (page) => {
  const tracks = page.locator(".pf-track");
  await tracks.getByText("postgresql shop").first().waitFor();
  await page.waitForTimeout(3000);
  // The span of the database, whose details are below then.
  await page.mouse.click(733, 243);
  await page.getByText("parent").first().waitFor();
  await page.mouse.move(250, 600);
  await page.mouse.wheel(0, 215);
}, 700, 700);

const objects = "devtools://devtools/bundled/devtools_app.html?panel=heap-profiler";
const load = async (page, file) => {
  await page.getByText("Select profiling type").waitFor();
  await page.setInputFiles("input[type=file]", path.join(folder, file + ".heapsnapshot"));
  // Its size is there when it is read.
  await page.getByText(/[0-9].?[kM]B\)/).first().waitFor();
  await page.getByText(file, { exact: true }).first().click();
  await page.getByText("Shallow Size").first().waitFor();
};
await photograph("heap", objects, (page) => load(page, "heap"));
await photograph("strings", objects, async (page) => {
  await load(page, "strings");
  await page.getByText("(string)").first().click();
  await page.keyboard.press("ArrowRight");
});

// The pages of pprof, whose servers run.
const flames = async (page) => {
  await page.waitForLoadState();
};
await photograph("sampled", "http://127.0.0.1:8765/ui/flamegraph", flames);
await photograph("spans", "http://127.0.0.1:8766/ui/flamegraph", flames);

await running.close();
server.close();
