import { assert, describe, it } from "@effect/vitest"
import {
  filesProblems,
  integrityOf,
  maxTotalBytes,
  pathProblem
} from "../../../../src/agents/plugins/files/PluginFiles.ts"

describe("pathProblem", () => {
  it.each([
    "../a.js",
    "a/../../b",
    "/etc/passwd",
    "C:/a",
    "a\\b",
    "./a",
    "a//b",
    "",
    "a/",
    "nul",
    "a/con.js",
    "a\0b",
    "a.",
    "x".repeat(201),
    "\ud800.js",
    Array.from({ length: 9 }, () => "a").join("/")
  ])("refuses %j", (path) => {
    assert.isNotNull(pathProblem(path))
  })

  it.each(["index.js", "lib/a-b_c.js", "a/b/c.json", "ü.js", ".x"])("takes %j", (path) => {
    assert.isNull(pathProblem(path))
  })
})

describe("filesProblems", () => {
  const problems = (files: Readonly<Record<string, unknown>>, main: string | null = null) =>
    filesProblems(new Map(Object.entries(files)), main).map(({ field }) => field)

  it("takes 5 MB and refuses a byte more", () => {
    assert.deepStrictEqual(problems({ "a.js": "x".repeat(maxTotalBytes) }), [])
    assert.deepStrictEqual(problems({ "a.js": "x".repeat(maxTotalBytes), "b.js": "y" }), ["files"])
  })

  it("refuses 201 files, 10,000 as well", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.js`, ""]))
    assert.deepStrictEqual(problems(many(200)), [])
    assert.deepStrictEqual(problems(many(201)), ["files"])
    assert.deepStrictEqual(problems(many(10_000)), ["files"])
  })

  it("refuses names that differ in letter case, a file that is a folder, what is no text, and a missing main", () => {
    assert.deepStrictEqual(problems({ "A.js": "", "a.js": "" }), ["files.a.js"])
    assert.deepStrictEqual(problems({ a: "", "a/b.js": "" }), ["files.a"])
    assert.deepStrictEqual(problems({ "a.js": 5, "b.js": "\ud800" }), ["files.a.js", "files.b.js"])
    assert.deepStrictEqual(problems({ "a.js": "" }, "b.js"), ["main"])
  })
})

describe("integrityOf", () => {
  it("is the same in another order, and another one for another split of the same bytes", () => {
    const one = new Map([
      ["a", "1"],
      ["b", "2"]
    ])
    assert.strictEqual(
      integrityOf(one),
      integrityOf(
        new Map([
          ["b", "2"],
          ["a", "1"]
        ])
      )
    )
    assert.notStrictEqual(
      integrityOf(one),
      integrityOf(
        new Map([
          ["a", "12"],
          ["b", ""]
        ])
      )
    )
    assert.match(integrityOf(one), /^sha256-[A-Za-z0-9+/]{43}=$/)
  })
})
