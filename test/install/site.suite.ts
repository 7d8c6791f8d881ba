/** The site of the documentation, built as a release builds it. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "gateway-site-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const build = (...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, ["bin/site/build.mjs", ...args], {
    cwd: root,
    maxBuffer: 1 << 26,
    // Where `CI` is set, the builder colours what it says, into a file too.
    env: { ...process.env, NO_COLOR: "1" }
  })

/** Addresses of what a page loads: of others there must be none. */
const loaded =
  /<(?:script|img|iframe|source)[^>]+src="([^"]+)"|<link[^>]+rel="(?:stylesheet|preload|modulepreload|icon)"[^>]+href="([^"]+)"/g

describe("the site", () => {
  it("has every page, a search, the API, and nothing of another server", { timeout: 300_000 }, async () => {
    const out = join(folder, "site")
    await build("--out", out, "--base", "/gateway/")
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".md")
    )
    assert.isAbove(pages.length, 60)
    const missing = pages.filter((path) => !existsSync(join(out, path.replace(/\.md$/, ".html"))))
    assert.deepStrictEqual(missing, [])

    const html = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".html"))
    const foreign = html.flatMap((path) =>
      [...readFileSync(join(out, path), "utf8").matchAll(loaded)]
        .map(([, source, link]) => source ?? link ?? "")
        .filter((address) => !address.startsWith("/gateway/") && !address.startsWith("data:"))
    )
    assert.deepStrictEqual(foreign, [])

    assert.include(readFileSync(join(out, "api/combos.html"), "utf8"), "/api/combos")
    assert.include(readFileSync(join(out, "dashboard.html"), "utf8"), "<img")
    const chunks = readdirSync(join(out, "assets/chunks"))
    assert.isTrue(chunks.some((name) => name.includes("localSearchIndex")))
  })

  it("is not built with a link that leads nowhere", { timeout: 120_000 }, async () => {
    const docs = join(folder, "docs")
    mkdirSync(docs)
    writeFileSync(
      join(docs, "README.md"),
      "# Pages\n\n## Begin\n\n| page | about |\n|---|---|\n| [one.md](one.md) | one |\n"
    )
    writeFileSync(join(docs, "one.md"), "# One\n\n[Two](two.md), and `{a: string, a: string}`, <b>text</b>.\n")
    const failed = await build("--docs", docs, "--out", join(folder, "broken")).then(
      () => null,
      (error: { readonly stderr: string; readonly stdout: string }) => error
    )
    assert.match(`${failed?.stdout ?? ""}${failed?.stderr ?? ""}`, /dead link \.\/two/)
  })
})
