/** Fragments of the changelog: their form, the version that follows from them, and the refusals of a release. */
import { assert, describe, it } from "@effect/vitest"
import {
  fragmentOf,
  fragmentsIn,
  kindsOfText,
  nextVersion,
  notesOf,
  unreleasedOf
} from "../../../bin/release/changelog.mjs"
import { failedChecks } from "../../../bin/release/checks.mjs"
import { frozenBreaks, migrationHashes } from "../../../bin/release/freeze.mjs"
import { licenceOf, licenceProblems } from "../../../bin/release/licences.mjs"

const root = new URL("../../..", import.meta.url).pathname

describe("a fragment", () => {
  it("is a sentence in a file named by words and a kind", () => {
    assert.deepStrictEqual(fragmentOf("budgets-by-team.added.md", "Budgets\n  of teams.\n"), {
      kind: "added",
      text: "Budgets of teams."
    })
    for (const [name, text, problem] of [
      ["Budgets.md", "Budgets.", /is not named/],
      ["budgets.new.md", "Budgets.", /has the kind 'new'/],
      ["budgets.added.md", " \n", /is empty/],
      ["budgets.added.md", "Budgets", /does not end/],
      ["budgets.added.md", "- Budgets.", /begins with a mark/]
    ] as const) {
      assert.match(fragmentOf(name, text).problem ?? "", problem)
    }
  })

  it("is well formed in this project", () => {
    const fragments = fragmentsIn(root)
    assert.deepStrictEqual(
      fragments.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      []
    )
  })
})

describe("the next version", () => {
  it("follows from what changed", () => {
    assert.isNull(nextVersion("1.2.3", []))
    assert.strictEqual(nextVersion("1.2.3", ["fixed", "security"]), "1.2.4")
    assert.strictEqual(nextVersion("1.2.3", ["fixed", "added"]), "1.3.0")
    assert.strictEqual(nextVersion("1.2.3", ["added", "breaking"]), "2.0.0")
    assert.strictEqual(nextVersion("0.2.3", ["removed"]), "0.3.0")
  })

  it("has notes by kind, what breaks first, and what the older section has", () => {
    const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- Old.\n\n## 0.1.0 (2026-01-01)\n\n- First.\n"
    const unreleased = unreleasedOf(changelog)
    assert.deepStrictEqual(kindsOfText(unreleased), ["added"])
    const notes = notesOf(
      "0.2.0",
      "2026-02-03",
      [
        { kind: "fixed", text: "It works." },
        { kind: "breaking", text: "Do this." }
      ],
      unreleased
    )
    assert.strictEqual(
      notes,
      "## 0.2.0 (2026-02-03)\n\n### Changed, and to be acted on\n\n- Do this.\n\n### Fixed\n\n- It works.\n\n### Added\n\n- Old.\n"
    )
  })
})

describe("released migrations", () => {
  it("never change, go or get a number in between", () => {
    const present = migrationHashes(root)
    assert.deepStrictEqual(frozenBreaks(present, present), [])
    assert.deepStrictEqual(frozenBreaks(present, { ...present, "9999_later.ts": "hash" }), [])
    const [first = ""] = Object.keys(present)
    assert.match(frozenBreaks(present, { ...present, [first]: "other" }).join(), /was changed/)
    const { [first]: _gone, ...others } = present
    assert.match(frozenBreaks(present, others).join(), /is gone/)
    assert.match(frozenBreaks(present, { ...present, "0001_between.ts": "hash" }).join(), /number that was released/)
  })
})

describe("a licence", () => {
  it("is one of those that allow this use, or the side of a double licence that is named", () => {
    assert.strictEqual(licenceOf({ name: "node-forge", license: "(BSD-3-Clause OR GPL-2.0)" }), "BSD-3-Clause")
    assert.isNull(licenceOf({ name: "other", license: "(BSD-3-Clause OR GPL-2.0)" }))
    const packages = [
      { name: "one", version: "1.0.0", license: "MIT" },
      { name: "two", version: "1.0.0", license: "GPL-3.0" },
      { name: "three", version: "1.0.0", license: null }
    ]
    assert.strictEqual(licenceProblems(packages).length, 2)
  })
})

describe("a release", () => {
  const document = { paths: { "/a": { get: {} } } }
  const facts = {
    fragments: [],
    version: "1.3.0",
    current: "1.2.0",
    changedFiles: [],
    takenTags: ["v1.2.0"],
    document,
    released: { version: "1.2.0", contract: document, migrations: { "0001_a.ts": "x" }, saysSo: false },
    migrations: { "0001_a.ts": "x" },
    schemaHashes: {},
    schemaVersion: 1,
    packages: [],
    benchLines: [{ version: "1.2.0", figures: { cpu: { ratio: 1.01 } } }],
    hasKey: true,
    contact: "security@example.com",
    isDryRun: false
  }
  const refusals = (changed: Record<string, unknown>, waived: ReadonlyArray<string> = []): string =>
    failedChecks({ ...facts, ...changed }, waived)
      .flatMap(({ name, problems }: { readonly name: string; readonly problems: ReadonlyArray<string> }) =>
        problems.map((problem) => `${name}: ${problem}`)
      )
      .join("\n")

  it("is made when nothing is missing", () => assert.strictEqual(refusals({}), ""))

  it("is refused with the reason for each thing that is missing", () => {
    for (const [changed, problem] of [
      [{ changedFiles: ["src/a.ts"] }, /^commit: These files are not committed: src\/a\.ts/],
      [{ takenTags: ["v1.3.0"] }, /^commit: There is a tag v1\.3\.0 already/],
      [{ version: null }, /^changelog: Nothing has changed/],
      [{ fragments: [{ problem: "x.md is empty." }] }, /^changelog: changelog\/x\.md is empty/],
      [{ document: { paths: {} } }, /^contract: A client of 1\.2\.0 breaks\. GET \/a is gone/],
      [{ released: { ...facts.released, contract: null } }, /^contract: The tag v1\.2\.0 has no contract/],
      [{ migrations: { "0001_a.ts": "y" } }, /^migrations: The released migration 0001_a\.ts was changed/],
      [{ schemaVersion: 3 }, /^schema: The schema before version 3 has no hash/],
      [{ packages: [{ name: "a", version: "1.0.0", license: "GPL-3.0" }] }, /^licences: a 1\.0\.0 is under GPL-3\.0/],
      [{ benchLines: [] }, /^bench: The bench has no figures/],
      [
        { benchLines: [{ version: "1.2.0", figures: { cpu: { ratio: 1.2 } } }] },
        /^bench: The bench: cpu is 1\.2 times/
      ],
      [{ hasKey: false }, /^key: There is no key to sign with/],
      [{ contact: null }, /^contact: There is no address/]
    ] as const) {
      assert.match(refusals(changed), problem)
    }
    assert.strictEqual(refusals({ benchLines: [] }, ["bench"]), "")
  })

  it("may break clients only as a version that says so", () => {
    const document = { paths: {} }
    const released = { ...facts.released, saysSo: true }
    assert.strictEqual(refusals({ document, released, version: "2.0.0" }), "")
    assert.match(refusals({ document, released, version: "1.3.0" }), /breaks/)
  })
})
