/** The pages for people: nothing of elsewhere is loaded, nothing runs that is not in a file of ours. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { rootPage, wantsPage } from "../../../src/entry/pages/Root.ts"
import { addressOf, viewerFile, viewerFiles, viewerPage, viewerVersion } from "../../../src/entry/pages/Viewer.ts"
import { rootPolicy, viewerPolicy } from "../../../src/entry/pages/PageHeaders.ts"
import { version } from "../../../src/platform/Version.ts"

const vendored = new URL("../../../vendor/swagger-ui/", import.meta.url)

describe("the pages", () => {
  for (const [name, page] of [
    ["/", rootPage],
    ["/docs", viewerPage]
  ] as const) {
    it(`${name} names no address of elsewhere, and has no script or style of its own text`, () => {
      for (const [, address = ""] of page.matchAll(/(?:src|href)="([^"]*)"/g)) assert.match(address, /^\/(?!\/)/)
      assert.notMatch(page, /https?:/)
      assert.notMatch(page, /<style|style=|\bon\w+=|javascript:/i)
      for (const [, inside] of page.matchAll(/<script[^>]*>([^<]*)/g)) assert.strictEqual(inside, "")
    })

    it(`${name} names its files by what is in them`, () => {
      const loaded = Array.from(page.matchAll(/"\/docs\/([\w.]+)\?v=/g), ([, file = ""]) => file)
      assert.isNotEmpty(loaded)
      for (const file of loaded) assert.include(page, `"${addressOf(file)}"`)
    })
  }

  it("have policies that allow no text of a page to run and no frame to hold it", () => {
    for (const policy of [rootPolicy, viewerPolicy]) {
      assert.include(policy, "default-src 'none'")
      assert.include(policy, "frame-ancestors 'none'")
      assert.include(policy, "base-uri 'none'")
      assert.notMatch(policy, /unsafe|https?:|\*/)
    }
  })

  it("say which version runs", () => {
    assert.include(rootPage, `Gateway ${version} is running.`)
  })

  for (const [accept, expected] of [
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
    ["application/json, text/html", true],
    ["*/*", false],
    ["application/json", false],
    ["text/htmlx", false],
    ["", false],
    [undefined, false]
  ] as const) {
    it(`${expected ? "are" : "are not"} for who accepts ${String(accept)}`, () =>
      assert.strictEqual(wantsPage(accept), expected))
  }
})

describe("the viewer", () => {
  it("is what its authors published", () => {
    const readme = readFileSync(new URL("README.md", vendored), "utf8")
    const sums = Array.from(readme.matchAll(/^\| `([^`]+)` \| `([0-9a-f]{64})` \|$/gm))
    assert.lengthOf(sums, 5)
    for (const [, file = "", sum] of sums) {
      assert.strictEqual(
        createHash("sha256")
          .update(readFileSync(new URL(file, vendored)))
          .digest("hex"),
        sum,
        file
      )
    }
    assert.match(readme, new RegExp(`^# swagger-ui ${viewerVersion.replaceAll(".", "\\.")}$`, "m"))
  })

  it("is started without a validator, and without an address from the query", () => {
    const start = String(viewerFiles["start.js"]?.content)
    assert.include(start, "validatorUrl: null")
    assert.include(start, "queryConfigEnabled: false")
    // Beside the page, wherever a prefix puts it.
    assert.include(start, 'new URL("../openapi.json", document.currentScript.src)')
    assert.include(start, "url: documentUrl")
  })

  it("has no file by a name of elsewhere", () => {
    for (const name of ["", "..", "../package.json", "toString", "__proto__", "VIEWER.JS"])
      assert.isNull(viewerFile(name))
  })
})
