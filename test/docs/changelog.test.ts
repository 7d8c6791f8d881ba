/** `CHANGELOG.md` has a section for each version, and `npm version` makes the next one of what is unreleased. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { project } from "./Pages.ts"

const kinds = ["Added", "Changed", "Removed", "Security"]
const folder = mkdtempSync(join(tmpdir(), "gateway-changelog-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sectionsOf = (text: string): ReadonlyArray<readonly [title: string, kinds: ReadonlyArray<string>]> =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.split("\n", 1)[0] ?? "",
      Array.from(section.matchAll(/^### (.*)$/gm), ([, kind = ""]) => kind)
    ])

/** Runs what `npm version` runs, on a changelog. */
const raised = (changelog: string, version: string) => {
  mkdirSync(join(folder, "docs/reference"), { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version }))
  writeFileSync(join(folder, "CHANGELOG.md"), changelog)
  writeFileSync(join(folder, "docs/reference/gateway.1"), '.TH GATEWAY 1 "" "gateway 0.1.0" "User Commands"\n')
  const { status, stderr } = spawnSync(process.execPath, [join(project, "bin/version.mjs")], {
    cwd: folder,
    encoding: "utf8"
  })
  const read = (path: string) => readFileSync(join(folder, path), "utf8")
  return { status, stderr, changelog: read("CHANGELOG.md"), manual: read("docs/reference/gateway.1") }
}

describe("the changelog", () => {
  it("begins with what is unreleased, then has the versions, the newest first, each kind of change once", () => {
    const sections = sectionsOf(readFileSync(join(project, "CHANGELOG.md"), "utf8"))
    assert.strictEqual(sections[0]?.[0], "Unreleased")
    const released = sections.slice(1)
    for (const [title] of released) assert.match(title, /^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/)
    const numbers = released.map(([title]) => title.split(" ")[0] ?? "")
    const sorted = numbers.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))
    assert.deepStrictEqual(numbers, sorted)
    for (const [title, found] of sections) {
      assert.deepStrictEqual(
        found,
        kinds.filter((kind) => found.includes(kind)),
        title
      )
    }
    const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
    assert.strictEqual(numbers[0] ?? version, version, "the newest version is the one of package.json")
  })

  it("gets a section of the version that is cut, and the manual page its name", () => {
    const made = raised(
      "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n",
      "0.2.0"
    )
    assert.strictEqual(made.status, 0, made.stderr)
    assert.match(
      made.changelog,
      /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added\n\n- A thing\.\n\n## 0\.1\.0/
    )
    assert.include(made.manual, '"gateway 0.2.0"')
  })

  it.each([
    ["nothing is unreleased", "## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n", /nothing to release/],
    ["there is no such section", "## 0.1.0 (2026-01-01)\n\n- Old.\n", /no section "## Unreleased"/],
    ["the version is there", "## Unreleased\n\n- A thing.\n\n## 0.2.0 (2026-01-01)\n", /raise the version first/]
  ])("stays as it is where %s", (_, changelog, says) => {
    const made = raised(changelog, "0.2.0")
    assert.strictEqual(made.status, 1)
    assert.match(made.stderr, says)
    assert.strictEqual(made.changelog, changelog)
    assert.include(made.manual, '"gateway 0.1.0"')
  })
})
