import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { defaultLimits, makeResponseHistory, weigh } from "../../../../src/plane/state/kept/ResponseHistory.ts"

const user = (content: string) => ({ type: "message", role: "user", content })
const answer = (content: string) => ({ type: "message", role: "assistant", content })
const ask = (previous: string, input: string) => ({ model: "m", previous_response_id: previous, input })

describe("ResponseHistory", () => {
  it("gives a request the whole conversation before it", () => {
    const history = makeResponseHistory()
    const first = { model: "m", instructions: "Be brief", tools: [], input: "one" }
    assert.strictEqual(history.expand("o", first), first)
    history.remember("o", "r1", { request: first, output: [answer("two")] })
    const second = history.expand("o", { ...ask("r1", "three"), temperature: 1 })
    assert.deepStrictEqual(second, { model: "m", temperature: 1, input: [user("one"), answer("two"), user("three")] })
    if (second === "unknown") return
    history.remember("o", "r2", { request: second, output: [answer("four")] })
    // Two answers to the same turn: both lead on.
    assert.deepStrictEqual(history.expand("o", ask("r1", "other")), {
      model: "m",
      input: [user("one"), answer("two"), user("other")]
    })
    const third = history.expand("o", ask("r2", "five"))
    assert.deepInclude(third, {
      input: [user("one"), answer("two"), user("three"), answer("four"), user("five")]
    })
  })

  it("puts items in the place of references to them", () => {
    const history = makeResponseHistory()
    const said = { ...answer("two"), id: "msg_1" }
    const call = { type: "function_call", id: "fc_1", call_id: "c", name: "look", arguments: "{}" }
    history.remember("o", "r1", { request: { input: "one" }, output: [said, call] })
    const reference = (id: string) => ({ type: "item_reference", id })
    const asked = {
      model: "m",
      input: [user("one"), reference("msg_1"), { id: "fc_1" }, reference("msg_9"), user("x")]
    }
    assert.deepStrictEqual(history.referred("o", asked), {
      model: "m",
      input: [user("one"), said, call, reference("msg_9"), user("x")]
    })
    assert.deepStrictEqual(history.referred("p", asked), asked)
    const plain = { model: "m", input: [user("one"), said] }
    assert.strictEqual(history.referred("o", plain), plain)
    assert.deepStrictEqual(history.referred("o", { input: "one" }), { input: "one" })
    // A reference is never kept as the item that it stands for.
    history.remember("o", "r2", { request: asked, output: [] })
    assert.deepInclude(history.referred("o", { input: [reference("msg_9")] }), { input: [reference("msg_9")] })
    history.forget("o")
    assert.deepInclude(history.referred("o", { input: [reference("msg_1")] }), { input: [reference("msg_1")] })
  })

  it("knows nothing of another owner, of an odd id, of a forgotten owner", () => {
    const history = makeResponseHistory()
    history.remember("o", "r1", { request: { input: "one" }, output: [] })
    assert.strictEqual(history.expand("p", ask("r1", "x")), "unknown")
    assert.strictEqual(history.expand("o", { previous_response_id: 5 }), "unknown")
    assert.notStrictEqual(history.expand("o", ask("r1", "x")), "unknown")
    history.forget("o")
    assert.strictEqual(history.expand("o", ask("r1", "x")), "unknown")
    assert.strictEqual(history.bytes(), 0)
    assert.strictEqual(history.entries(), 0)
  })

  it("keeps what the first turn referred to elsewhere", () => {
    const history = makeResponseHistory()
    history.remember("o", "r1", { request: ask("kept-upstream", "one"), output: [] })
    assert.deepStrictEqual(history.expand("o", ask("r1", "two")), {
      model: "m",
      previous_response_id: "kept-upstream",
      input: [user("one"), user("two")]
    })
  })

  it("leaves out reasoning that cannot be looked up", () => {
    const history = makeResponseHistory()
    const bare = { type: "reasoning", id: "rs_1", summary: [] }
    const proven = { ...bare, id: "rs_2", encrypted_content: "x" }
    const ours = { ...bare, id: "rs_gw_abc_0" }
    const output = [bare, proven, ours]
    history.remember("o", "r1", { request: { input: [], store: false }, output })
    history.remember("o", "r2", { request: { input: [] }, output })
    assert.deepInclude(history.expand("o", { previous_response_id: "r1" }), { input: [proven, ours] })
    assert.deepInclude(history.expand("o", { previous_response_id: "r2" }), { input: output })
  })

  it("counts shared items once, and frees them with their last turn", () => {
    const history = makeResponseHistory()
    let request: Readonly<Record<string, unknown>> & { readonly input: string } = { input: "x".repeat(100_000) }
    for (let turn = 0; turn < 50; turn += 1) {
      const body = turn === 0 ? request : history.expand("o", { ...ask(`r${turn - 1}`, `turn ${turn}`) })
      if (body === "unknown") throw new Error("forgotten")
      history.remember("o", `r${turn}`, { request: body as { input: string }, output: [answer("ok")] })
      request = body as typeof request
    }
    assert.isBelow(history.bytes(), 400_000)
    assert.isAbove(history.bytes(), 200_000)
    // The same id again: nothing is counted twice.
    const before = history.bytes()
    const again = history.expand("o", ask("r48", "turn 49"))
    if (again !== "unknown") history.remember("o", "r49", { request: again, output: [answer("ok")] })
    assert.isBelow(Math.abs(history.bytes() - before), 1_000)
    history.forget("o")
    assert.strictEqual(history.bytes(), 0)
  })

  it("is bounded by bytes, entries, and entries of an owner: the least recently used goes first", () => {
    const few = makeResponseHistory({ ...defaultLimits, maxEntries: 3 })
    for (const id of ["a", "b", "c"]) few.remember("o", id, { request: { input: id }, output: [] })
    few.expand("o", ask("a", "used"))
    few.remember("p", "d", { request: { input: "d" }, output: [] })
    assert.strictEqual(few.expand("o", ask("b", "x")), "unknown")
    assert.notStrictEqual(few.expand("o", ask("a", "x")), "unknown")

    const own = makeResponseHistory({ ...defaultLimits, maxOwnerEntries: 2 })
    own.remember("p", "other", { request: { input: "1" }, output: [] })
    for (const id of ["a", "b", "c"]) own.remember("o", id, { request: { input: id }, output: [] })
    assert.strictEqual(own.expand("o", ask("a", "x")), "unknown")
    assert.notStrictEqual(own.expand("p", ask("other", "x")), "unknown")

    const small = makeResponseHistory({ ...defaultLimits, maxBytes: 8_000 })
    small.remember("o", "a", { request: { input: "x".repeat(2_000) }, output: [] })
    small.remember("o", "b", { request: { input: "y".repeat(2_000) }, output: [] })
    assert.isAtMost(small.bytes(), 8_000)
    assert.strictEqual(small.expand("o", ask("a", "x")), "unknown")
    small.remember("o", "huge", { request: { input: "z".repeat(20_000) }, output: [] })
    // It empties nothing for what is too large itself.
    assert.strictEqual(small.expand("o", ask("huge", "x")), "unknown")
    assert.notStrictEqual(small.expand("o", ask("b", "x")), "unknown")
    small.forget("o")
    assert.deepStrictEqual([small.entries(), small.bytes()], [0, 0])
  })

  it("weighs deep and wide values without recursion", () => {
    const deep = JSON.parse(`${"[".repeat(20_000)}1${"]".repeat(20_000)}`)
    assert.isAbove(weigh(deep), 300_000)
    assert.isAbove(weigh(Array.from({ length: 200_000 }, () => 1)), 3_000_000)
  })

  it("is the same in another process that is told what each turn adds", () => {
    // A turn: the one that it goes on from (beyond those that there are: one that only its upstream knows, or none), its words, and whether it is stored.
    const turn = fc.tuple(fc.nat({ max: 12 }), fc.array(fc.string({ maxLength: 8 }), { maxLength: 3 }), fc.boolean())
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 10 }), (turns) => {
        const [plain, own, other] = [makeResponseHistory(), makeResponseHistory(), makeResponseHistory()]
        for (const [index, [from, words, store]] of turns.entries()) {
          const previousId = from === 0 ? null : `r${from}`
          const asked = {
            input: words.map(user),
            store,
            ...(previousId === null ? {} : { previous_response_id: previousId })
          }
          const output = [
            { ...answer(`${index}`), id: `msg_${index}` },
            { type: "reasoning", id: `rs_${index}` }
          ]
          const id = `r${index + 1}`
          const expanded = plain.expand("o", asked)
          const here = own.expand("o", asked)
          plain.remember("o", id, { request: expanded === "unknown" ? asked : expanded, output })
          const added = own.added("o", { request: here === "unknown" ? asked : here, output, previousId })
          if (here !== "unknown" && previousId !== null) assert.strictEqual(added.previousId, previousId)
          own.extend("o", id, added)
          other.extend("o", id, JSON.parse(JSON.stringify(added)))
        }
        for (let index = 0; index <= turns.length + 1; index++) {
          const next = ask(`r${index}`, "next")
          assert.deepStrictEqual(own.expand("o", next), plain.expand("o", next))
          assert.deepStrictEqual(other.expand("o", next), plain.expand("o", next))
        }
        assert.strictEqual(other.bytes(), plain.bytes())
      })
    )
    // One that was not told of a turn knows none that goes on from it.
    const late = makeResponseHistory()
    late.extend("o", "r2", { previousId: "r1", items: [user("two")], base: null })
    assert.strictEqual(late.expand("o", ask("r2", "x")), "unknown")
  })
})
