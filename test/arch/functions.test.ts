/** The size of functions: what one does is seen on one screen or two, and what it takes has names. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import ts from "typescript"

const mostLines = 100
const mostParameters = 5

/** Longer ones, by file and name, each with its reason. */
const long: Readonly<Record<string, string>> = {
  "contract/domain/Errors.ts describe":
    "A table from error to answer: as one switch a new error without a row does not compile."
}

const src = new URL("../../src/", import.meta.url)

interface Found {
  readonly name: string
  readonly lines: number
  readonly parameters: number
}

const nameOf = (node: ts.FunctionLikeDeclaration): string => {
  if (node.name !== undefined) return node.name.getText()
  for (let at: ts.Node = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at)) return at.name.getText()
  }
  return "(anonymous)"
}

const functionsOf = (file: string): ReadonlyArray<Found> => {
  const source = ts.createSourceFile(file, readFileSync(new URL(file, src), "utf8"), ts.ScriptTarget.Latest, true)
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line
  const found: Array<Found> = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const lines = lineOf(node.end) - lineOf(node.getStart()) + 1
      if (lines > mostLines || node.parameters.length > mostParameters) {
        found.push({
          name: `${file} ${nameOf(node as ts.FunctionLikeDeclaration)}`,
          lines,
          parameters: node.parameters.length
        })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

describe("functions", () => {
  const found = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .toSorted()
    .flatMap(functionsOf)

  it(`have at most ${mostLines} lines, but a few with a reason`, () => {
    const names = found.filter(({ lines }) => lines > mostLines).map(({ name }) => name)
    assert.deepStrictEqual([...new Set(names)].toSorted(), Object.keys(long).toSorted())
    assert.isAtMost(Object.keys(long).length, 20)
  })

  it(`take at most ${mostParameters} parameters by their place`, () => {
    assert.deepStrictEqual(
      found.filter(({ parameters }) => parameters > mostParameters).map(({ name }) => name),
      []
    )
  })
})
