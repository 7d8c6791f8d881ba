/** The size of functions: what one does is seen on one screen or two, and what it takes has names. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import ts from "typescript"

const mostLines = 100
const mostParameters = 5

/** Longer ones, by file and name, each with its reason. */
const long: Readonly<Record<string, string>> = {
  "domain/Errors.ts describe": "A table from error to answer: as one switch a new error without a row does not compile."
}

/** Longer ones that are still to be cut. A name leaves the list with its cut, and none comes in. */
const toBeCut: ReadonlyArray<string> = [
  "agents/bridge/Bridge.ts make",
  "agents/bridge/DirectReplay.ts make",
  "agents/mcp/Reading.ts makeReading",
  "agents/plugins/sandbox/Selector.ts openSelector",
  "entry/files/FileEndpoint.ts make",
  "entry/forms/Forms.ts make",
  "entry/forms/Forms.ts receive",
  "entry/listening/Listener.ts makeWith",
  "entry/live/InspectorFeed.ts make",
  "entry/ws/ResponsesSocket.ts make",
  "net/egress/Connector.ts makeConnector",
  "net/egress/PublicFetch.ts make",
  "net/egress/Upstream.ts make",
  "net/tunnels/Supervisor.ts make",
  "net/tunnels/Tunnels.ts make",
  "net/tunnels/mesh/MeshFunnel.ts makeFunnel",
  "observe/capture/proxy/HttpProxy.ts start",
  "observe/capture/tls/Http2Relay.ts joinHttp2",
  "observe/capture/transparent/Transparent.ts make",
  "observe/inspector/Inspector.ts makeWith",
  "observe/inspector/Views.ts makeViews",
  "observe/usage/PriceBook.ts make",
  "store/engine/ReadWorker.ts makeWith",
  "subjects/mcp/commands/Relay.ts makeRelay"
]

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
    assert.deepStrictEqual([...new Set(names)].toSorted(), [...Object.keys(long), ...toBeCut].toSorted())
    assert.isAtMost(Object.keys(long).length, 20)
  })

  it(`take at most ${mostParameters} parameters by their place`, () => {
    assert.deepStrictEqual(
      found.filter(({ parameters }) => parameters > mostParameters).map(({ name }) => name),
      []
    )
  })
})
