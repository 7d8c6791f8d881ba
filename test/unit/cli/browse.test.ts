/** The list of captured requests to move in: what each key does, and what is drawn. */
import { assert, describe, it } from "@effect/vitest"
import type { Item } from "../../../src/contract/domain/TrafficRecord.ts"
import { itemOf } from "../../../src/contract/domain/TrafficRecord.ts"
import {
  type Browse,
  empty,
  type Key,
  linesOf,
  maxRows,
  pressed,
  type Step,
  withFrame
} from "../../../src/subjects/inspector/commands/browse/Browse.ts"
import { draw, heightOf } from "../../../src/subjects/inspector/commands/browse/draw.ts"
import { widthOf } from "../../../src/cli/output/Table.ts"
import { aHead } from "../../support/TrafficRecords.ts"

const row = (id: string, over: Partial<Item> = {}): Item => ({
  ...itemOf(aHead({ id })),
  retryOf: null,
  attempt: 1,
  ...over
})
const withRows = (...rows: ReadonlyArray<Item>): Browse =>
  withFrame(empty, { type: "snapshot", data: rows.toReversed() })
const key = (name: string, text = name.length === 1 ? name : "", isCtrl = false): Key => ({ name, text, isCtrl })

const after = (
  state: Browse,
  ...names: ReadonlyArray<string>
): { readonly state: Browse; readonly step: Step | null } => {
  let result: { readonly state: Browse; readonly step: Step | null } = { state, step: null }
  for (const name of names) {
    const given = name === "space" ? key("space", " ") : name.startsWith("^") ? key(name.slice(1), "", true) : key(name)
    result = pressed(result.state, given, 10)
  }
  return result
}
const shown = (state: Browse): ReadonlyArray<string | null> =>
  linesOf(state).map((line) => (line._tag === "Row" ? line.row.id : `# ${line.contextKey}`))

describe("the list to move in", () => {
  const three = withRows(row("a"), row("b"), row("c"))

  it("begins at the newest, and moves within its ends", () => {
    assert.deepStrictEqual(shown(three), ["c", "b", "a"])
    const moves: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [[], "c"],
      [["up"], "c"],
      [["down"], "b"],
      [["j", "j"], "a"],
      [["j", "j", "j", "k"], "b"],
      [["end"], "a"],
      [["end", "home"], "c"],
      [["pagedown"], "a"],
      [["pagedown", "pageup"], "c"]
    ]
    for (const [names, selected] of moves)
      assert.strictEqual(after(three, ...names).state.selected, selected, names.join(" "))
    assert.isNull(after(empty, "down", "up", "end").state.selected)
  })

  it("keeps what is selected while more comes, and takes its neighbour when it goes", () => {
    const { state } = after(three, "down")
    const more = withFrame(state, { type: "new", data: row("d") })
    assert.deepStrictEqual([more.selected, shown(more)], ["b", ["d", "c", "b", "a"]])
    const changed = withFrame(more, { type: "update", data: row("b", { status: 500 }) })
    assert.deepStrictEqual(shown(changed), ["d", "c", "b", "a"])
    assert.strictEqual(changed.rows[1]?.status, 500)
    const gone = withFrame(changed, { type: "snapshot", data: [row("d"), row("c"), row("a")] })
    assert.strictEqual(gone.selected, "a")
    assert.deepInclude(withFrame(gone, { type: "clear", data: null }), { rows: [], selected: null })
    let full = three
    for (let at = 0; at < maxRows + 5; at += 1) full = withFrame(full, { type: "new", data: row(`r${at}`) })
    assert.strictEqual(full.rows.length, maxRows)
  })

  it("filters as one types, by all words, anywhere", () => {
    const state = withRows(row("a", { host: "api.anthropic.com" }), row("b", { status: 529, agent: "kiro" }), row("c"))
    const steps: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["/", ["c", "b", "a"]],
      ["5", ["b"]],
      ["2", ["b"]],
      [" ", ["b"]],
      ["q", []],
      ["backspace", ["b"]],
      ["k", ["b"]],
      ["return", ["b"]]
    ]
    let current = state
    for (const [name, ids] of steps) {
      current = pressed(current, key(name), 10).state
      assert.deepStrictEqual(shown(current), ids, name)
    }
    assert.deepInclude(current, { filter: "52 k", isTyping: false, selected: "b" })
    assert.strictEqual(after(current, "escape").state.filter, "")
    // A key that types nothing changes nothing.
    assert.strictEqual(pressed({ ...current, isTyping: true }, key("f5", "\u001b[15~"), 10).state.filter, "52 k")
  })

  it("opens a request and its conversation, and goes back", () => {
    assert.deepStrictEqual(after(three, "down", "return").step, { _tag: "Open", id: "b", view: "show" })
    assert.deepStrictEqual(after(three, "c").step, { _tag: "Open", id: "c", view: "conversation" })
    assert.isNull(after(empty, "return").step)
    const page = { title: "b", lines: Array.from({ length: 25 }, (_, at) => `line ${at}`), top: 0 }
    const inPage = { ...three, page }
    assert.strictEqual(after(inPage, "down", "down").state.page?.top, 2)
    assert.strictEqual(after(inPage, "end").state.page?.top, 15)
    assert.strictEqual(after(inPage, "end", "home").state.page?.top, 0)
    for (const name of ["escape", "q", "left"]) {
      const { state, step } = after(inPage, name)
      assert.deepStrictEqual([state.page, step], [null, null])
    }
  })

  it("marks requests, and compares two of them", () => {
    const one = after(three, "space")
    assert.deepStrictEqual([...one.state.marked], ["c"])
    assert.strictEqual(one.state.selected, "b")
    const { step, state } = after(one.state, "d")
    assert.isNull(step)
    assert.match(state.message ?? "", /Mark two/)
    assert.deepStrictEqual(after(one.state, "space", "d").step, { _tag: "Compare", one: "b", other: "c" })
    assert.strictEqual(after(one.state, "up", "space").state.marked.size, 0)
    assert.strictEqual(after(one.state, "escape").state.marked.size, 0)
  })

  it("has one line for the retries of a prompt, which opens", () => {
    const storm = withRows(
      row("a", { status: 529 }),
      row("z"),
      row("b", { status: 529, retryOf: "a", attempt: 2 }),
      row("c", { retryOf: "a", attempt: 3 })
    )
    assert.deepStrictEqual(shown(storm), ["c", "z"])
    const { state } = after(storm, "x")
    assert.deepStrictEqual(shown(state), ["c", "b", "a", "z"])
    const folded = after(state, "down", "x").state
    assert.deepStrictEqual([shown(folded), folded.selected], [["c", "z"], "c"])
  })

  it("groups by the system prompt", () => {
    const state = withRows(row("a", { contextKey: "one" }), row("b"), row("c", { contextKey: "one" }))
    assert.deepStrictEqual(shown(after(state, "g").state), ["# one", "c", "a", "# null", "b"])
    assert.strictEqual(after(state, "g", "down", "down").state.selected, "b")
  })

  it("ends with q and Ctrl-C, also while one types and on a page", () => {
    assert.deepStrictEqual(after(three, "q").step, { _tag: "Quit" })
    assert.isNull(after(three, "/", "q").step)
    for (const state of [three, { ...three, isTyping: true }, { ...three, page: { title: "", lines: [], top: 0 } }]) {
      assert.deepStrictEqual(after(state, "^c").step, { _tag: "Quit" })
    }
  })

  it("is drawn within the screen, whatever its size and what it holds", () => {
    const hostile = `\u001b[2J${"wide 漢字 ".repeat(40)}\n`
    const rows = Array.from({ length: 50 }, (_, at) =>
      row(`r${at}`, { host: hostile, error: hostile, contextKey: hostile })
    )
    const page = { title: hostile, lines: rows.map(() => hostile), top: 3 }
    for (const columns of [20, 40, 80, 200]) {
      for (const rowsOfScreen of [4, 10, 60]) {
        const size = { columns, rows: rowsOfScreen }
        for (const state of [
          withRows(...rows),
          after(withRows(...rows), "g", "end", "space").state,
          { ...three, page },
          empty
        ]) {
          const lines = draw(state, size, 0)
          assert.strictEqual(lines.length, heightOf(size) + 3)
          for (const line of lines) {
            // eslint-disable-next-line no-control-regex -- the marks of the selected line
            const bare = line.replace(/^\u001b\[7m(.*)\u001b\[0m$/u, "$1")
            assert.notMatch(bare, /\p{Cc}/u)
            assert.isAtMost(widthOf(bare), columns)
          }
        }
      }
    }
    const { state } = after(withRows(...rows), "end")
    assert.isTrue(draw(state, { columns: 80, rows: 10 }, 0).some((line) => line.startsWith("\u001b[7m")))
    assert.include(draw({ ...three, behindMs: 700 }, { columns: 80, rows: 10 }, 0).join("\n"), "700 ms behind")
  })
})
