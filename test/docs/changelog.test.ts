/** `CHANGELOG.md` has a section for each version. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { project } from "./Pages.ts"

const kinds = ["Added", "Changed", "Removed", "Security"]

const sectionsOf = (text: string): ReadonlyArray<readonly [title: string, kinds: ReadonlyArray<string>]> =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.split("\n", 1)[0] ?? "",
      Array.from(section.matchAll(/^### (.*)$/gm), ([, kind = ""]) => kind)
    ])

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
})
