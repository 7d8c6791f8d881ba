/** ARCHITECTURE.md and the pages for contributors name what is there, and the folders of the source keep their size. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { firstSentence } from "./map.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const src = join(root, "src")

interface Folder {
  readonly path: string
  readonly children: ReadonlyArray<string>
}

const foldersBelow = (path: string): ReadonlyArray<Folder> => {
  const entries = readdirSync(join(src, path), { withFileTypes: true })
  const inner = entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => foldersBelow(join(path, name)))
  return [{ path, children: entries.map(({ name }) => name) }, ...inner]
}

const folders = foldersBelow("")

/** Paths in backticks, without those that have a placeholder. */
const pathsIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/`((?:[a-zA-Z0-9]+\/)+[a-zA-Z0-9]+(?:\.ts)?)`/gu), ([, path = ""]) => path)

const tops = new Set(readdirSync(src))

const isThere = (path: string): boolean =>
  [
    join(root, path),
    join(root, `${path}.ts`),
    join(root, `${path}.test.ts`),
    join(src, path),
    join(src, `${path}.ts`)
  ].some((place) => existsSync(place))

describe("ARCHITECTURE.md", () => {
  it("can be read in one go", () => {
    assert.isAtMost(readFileSync(join(root, "ARCHITECTURE.md")).length, 12_288)
  })

  it.each([
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/contributing/adding.md",
    "docs/contributing/modules.md",
    "docs/contributing/speed.md",
    "docs/contributing/management-figures.md"
  ])("names files and folders that are there: %s", (page) => {
    const paths = pathsIn(readFileSync(join(root, page), "utf8"))
    assert.isNotEmpty(paths)
    const named = paths.filter(
      (path) => tops.has(path.split("/")[0] ?? "") || path.startsWith("src/") || path.startsWith("test/")
    )
    assert.deepStrictEqual(
      named.filter((path) => !isThere(path)),
      []
    )
  })
})

describe("the folders of src", () => {
  it("are at most 14 at the first level", () => {
    assert.isAtMost(readdirSync(src).length, 14)
  })

  it("have fewer than 30 siblings each, migrations and subjects aside, but two", () => {
    const large = folders.filter(
      ({ children, path }) => children.length >= 30 && path !== "subjects" && path !== "store/migrations"
    )
    assert.isAtMost(large.length, 2, large.map(({ path }) => path).join(" "))
  })

  it("have more than one file or folder each", () => {
    assert.deepStrictEqual(
      folders.filter(({ children }) => children.length === 1).map(({ path }) => path),
      []
    )
  })
})

describe("the map", () => {
  it("prints the first sentence of a file's own comment", () => {
    assert.strictEqual(firstSentence("import x\n/**\n * Does one thing.\n * And more.\n */"), "Does one thing.")
    assert.strictEqual(firstSentence("/** A title: more. */"), "A title:")
    assert.strictEqual(firstSentence("const a = 1"), "")
  })
})
