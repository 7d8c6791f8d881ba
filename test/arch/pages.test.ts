/**
 * The pages under `docs`: each is found from their index, and what they show of the program is what it is.
 * `UPDATE_DOCS=1` writes the help in `docs/first-hour.md` anew.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { programHelp } from "../../src/cli/help/render.ts"
import { program } from "../../src/cli/program.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const docs = join(root, "docs")

const linksOf = (file: string): ReadonlyArray<string> =>
  Array.from(readFileSync(file, "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, to = ""]) => to)
    .filter((to) => !/^[a-z]+:/.test(to))
    .map((to) => resolve(dirname(file), to))

describe("the pages", () => {
  it("are each linked from the index, which the README links to", () => {
    const linked = linksOf(join(docs, "README.md"))
    const pages = readdirSync(docs, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith(".md") && name !== "README.md")
    assert.isAbove(pages.length, 40)
    for (const page of pages) assert.include(linked, join(docs, page), page)
    assert.include(linksOf(join(root, "README.md")), join(docs, "README.md"))
  })

  it("link to files that are there, from the index, the page on monitoring and the README", () => {
    for (const page of ["README.md", "docs/README.md", "docs/monitoring.md", "docs/operations.md"]) {
      for (const to of linksOf(join(root, page))) assert.isTrue(existsSync(to), `${page}: ${to}`)
    }
  })

  it("name tests that are there", () => {
    const named = readdirSync(docs, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith(".md"))
      .flatMap((name) =>
        Array.from(readFileSync(join(docs, name), "utf8").matchAll(/`(test\/[\w/.-]+\.ts)`/g), ([, file = ""]) => file)
      )
    assert.isAbove(named.length, 10)
    assert.deepStrictEqual(
      named.filter((file) => !existsSync(join(root, file))),
      []
    )
  })

  it("why.md names a test, or that there is none, in each row about teams", () => {
    const page = readFileSync(join(docs, "why.md"), "utf8")
    const table = /## For a team[^]*?\n\|---[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page)?.[1] ?? ""
    const rows = table.trimEnd().split("\n")
    assert.isAbove(rows.length, 20)
    for (const row of rows) {
      const [, ours = ""] = row.slice(2, -2).split(" | ")
      assert.isTrue(/`test\/[\w/.-]+`/.test(ours) || ours.startsWith("none: "), row)
    }
  })

  it("first-hour.md shows the help that the program has on a terminal of 80 columns", () => {
    const file = join(docs, "first-hour.md")
    const help = programHelp(program, { width: 80, bold: (text) => text })
    const pattern = /(\$ gateway --help\n)[^]*?(\nnewcomer\$)/
    const page = readFileSync(file, "utf8")
    const made = page.replace(pattern, (_, before: string, after: string) => `${before}${help}${after}`)
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, made)
    assert.match(page, pattern)
    assert.strictEqual(readFileSync(file, "utf8"), made)
  })
})

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

describe("the files for Prometheus", () => {
  it.skipIf(!hasPromtool)("are accepted by promtool (skipped where the package prometheus is not installed)", () => {
    const { status, stderr } = spawnSync("promtool", ["check", "config", join(docs, "monitoring/prometheus.yml")], {
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
  })
})
