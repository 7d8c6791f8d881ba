/** A conversation at the terminal, input by input. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Action,
  answered,
  type Conversation,
  type Input,
  messagesOf,
  next,
  savedAs,
  started
} from "../../../../src/cli/commands/use/chat/Conversation.ts"

const line = (text: string): Input => ({ _tag: "Line", text })
const ctrlC: Input = { _tag: "Interrupt", hadText: false }
const ctrlD: Input = { _tag: "End" }

const after = (inputs: ReadonlyArray<Input>, from: Conversation = started("auto", null)) => {
  let state = from
  const actions: Array<Action> = []
  for (const input of inputs) {
    const step = next(state, input)
    state = step.state
    actions.push(step.action)
  }
  return { state, actions, last: actions.at(-1) }
}

const whole = { text: "Hi", isWhole: true, isStopped: false }

describe("a conversation", () => {
  it("asks what was typed, and nothing for an empty line", () => {
    assert.deepStrictEqual(after([line("Hello"), line("  ")]).actions, [
      { _tag: "Ask", text: "Hello" },
      { _tag: "Wait" }
    ])
  })

  it("goes on with the next line after a backslash, and between lines of quotes", () => {
    assert.deepStrictEqual(after([line("one \\"), line("two\\"), line("three")]).actions, [
      { _tag: "Wait" },
      { _tag: "Wait" },
      { _tag: "Ask", text: "one \ntwo\nthree" }
    ])
    const block = after([line('"""'), line("a"), line(""), line("/clear"), line('""" ')])
    assert.deepStrictEqual(block.last, { _tag: "Ask", text: "a\n\n/clear" })
    assert.deepInclude(block.state, { lines: [], isBlock: false })
  })

  it("takes a pasted text of several lines as one question, also when it begins with a slash", () => {
    assert.deepStrictEqual(after([line("/usr/bin\n/usr/lib")]).last, { _tag: "Ask", text: "/usr/bin\n/usr/lib" })
  })

  it("has commands, and names those it does not have", () => {
    const changed = after([line("/model openai/gpt-4o")])
    assert.strictEqual(changed.state.model, "openai/gpt-4o")
    const said = (text: string) => {
      const { last } = after([line(text)])
      return last?._tag === "Say" ? last.text : ""
    }
    assert.include(said("/model"), "auto")
    assert.include(said("/help"), "/save")
    assert.include(said("/nothing"), "There is no /nothing")
    assert.include(said("/save"), "name of a file")
    assert.include(said("/save x.md"), "nothing to save")
    assert.deepStrictEqual(after([line("/quit")]).last, { _tag: "Leave", byInterrupt: false })
    assert.deepStrictEqual(after([line(" /help is a command")]).last, { _tag: "Ask", text: " /help is a command" })
  })

  it("leaves with Ctrl-D, and with the second Ctrl-C only", () => {
    assert.deepStrictEqual(after([ctrlD]).last, { _tag: "Leave", byInterrupt: false })
    assert.deepStrictEqual(after([ctrlC, ctrlC]).last, { _tag: "Leave", byInterrupt: true })
    assert.strictEqual(after([ctrlC, line("on"), ctrlC]).last?._tag, "Say")
    const taken = after([ctrlC, { _tag: "Interrupt", hadText: true }, ctrlC])
    assert.strictEqual(taken.last?._tag, "Say")
    assert.deepInclude(after([line("half \\"), ctrlC]).state, { lines: [], isInterrupted: false })
    const stopped = answered(started("auto", null), "Q", { text: "par", isWhole: false, isStopped: true })
    assert.deepStrictEqual(next(stopped, ctrlC).action, { _tag: "Leave", byInterrupt: true })
  })

  it("sends the turns so far, with what was shown of a stopped answer and without questions that failed", () => {
    let state = started("auto", "Be brief.")
    state = answered(state, "One?", whole)
    state = answered(state, "Two?", { text: "", isWhole: false, isStopped: false })
    state = answered(state, "Three?", { text: "par", isWhole: false, isStopped: true })
    assert.deepStrictEqual(messagesOf(state, "Four?"), [
      { role: "system", content: "Be brief." },
      { role: "user", content: "One?" },
      { role: "assistant", content: "Hi" },
      { role: "user", content: "Three?" },
      { role: "assistant", content: "par" },
      { role: "user", content: "Four?" }
    ])
    assert.deepStrictEqual(messagesOf(next(state, line("/clear")).state, "Q"), [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Q" }
    ])
  })

  it("is saved as Markdown without control characters, or as messages", () => {
    const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,YWJj" } }
    let state = answered(started("m", "Be brief."), "Q?", { ...whole, text: "\u001b[2JA" })
    state = answered(state, [{ type: "text", text: "Look" }, image], whole)
    assert.strictEqual(
      savedAs(state, "talk.md"),
      "# Conversation with m\n\n## System\n\nBe brief.\n\n## You\n\nQ?\n\n## Model\n\n?[2JA\n\n## You\n\nLook\n(an image)\n\n## Model\n\nHi\n"
    )
    const saved = JSON.parse(savedAs(state, "talk.json"))
    assert.strictEqual(saved.model, "m")
    assert.deepStrictEqual(saved.messages.slice(0, 2), messagesOf({ system: "Be brief.", turns: [] }, "Q?"))
    assert.deepStrictEqual(saved.messages[3].content[1], image)
  })
})
