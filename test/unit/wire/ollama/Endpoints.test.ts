import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import { ollamaGenerate } from "../../../../src/wire/ollama/Codec.ts"
import { imageTypeOf } from "../../../../src/wire/canonical/ImageType.ts"
import { loadAnswer } from "../../../../src/wire/ollama/LoadAnswer.ts"
import {
  findModel,
  type OfferedModel,
  psAnswer,
  showAnswer,
  shownName,
  tagsAnswer,
  versionAnswer
} from "../../../../src/wire/ollama/ModelAnswers.ts"
import { options } from "../support.ts"
import { itemsOf, ollamaBody, png, refusal, translate } from "./support.ts"

describe("/api/generate", () => {
  const body = {
    model: "m",
    prompt: "Why?",
    system: "Be brief.",
    images: [png],
    suffix: "return",
    options: { num_ctx: 10, seed: 1 },
    context: [1, 2],
    keep_alive: 0
  }

  const { context: _context, suffix: _suffix, ...spoken } = body

  it("is a conversation for other wires, which drop what only it can say", () => {
    const { body: sent, dropped } = translate("generate", "chat", spoken)
    assert.deepEqual(sent["messages"], [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Why?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }
        ]
      }
    ])
    assert.sameMembers([...dropped], ["keep_alive", "options.num_ctx"])
  })

  it("is itself again at the same endpoint", () => {
    const { body: sent, dropped } = translate("generate", "generate", body, { model: "m", stream: true })
    assert.deepEqual(sent, { ...body, stream: true })
    assert.deepEqual(dropped, [])
  })

  it("cannot be asked of a conversation with what only it can say of the question", () => {
    for (const [name, value] of Object.entries({
      context: [1, 2],
      suffix: "end",
      raw: true,
      template: "{{ .Prompt }}"
    })) {
      assert.isTrue(ollamaGenerate.needsOwnEndpoint?.({ ...spoken, [name]: value }), name)
      for (const wire of ["chat", "messages", "ollama"] as const) {
        const result = translateRequest(
          ollamaGenerate,
          codecs[wire],
          { ...spoken, [name]: value },
          { ...options, maxOutputTokens: 9 }
        )
        assert.strictEqual(Either.isLeft(result) ? result.left.param : null, name, wire)
      }
    }
    assert.isFalse(ollamaGenerate.needsOwnEndpoint?.({ ...spoken, raw: false, context: [], suffix: "" }))
  })

  it("keeps its own words at the conversation endpoint", () => {
    const { body: sent, dropped } = translate("generate", "ollama", spoken)
    assert.deepEqual(dropped, [])
    assert.deepEqual(sent["options"], { seed: 1, num_ctx: 10 })
    assert.strictEqual(sent["keep_alive"], 0)
  })

  it("has no place for earlier answers", () => {
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" }
    ]
    const refused = translateRequest(codecs.ollama, ollamaGenerate, ollamaBody({ messages }), options)
    assert.strictEqual(Either.isLeft(refused) ? refused.left.param : null, "messages")
  })

  it("wants a prompt or a picture", () => {
    assert.strictEqual(refusal(ollamaGenerate, { model: "m", prompt: "" }).param, "prompt")
    assert.strictEqual(refusal(ollamaGenerate, { model: "m", prompt: "a", images: ["?"] }).param, "images[0]")
  })
})

describe("loadAnswer", () => {
  it("answers a request to load or unload a model", () => {
    assert.deepEqual(loadAnswer("chat", { model: "m", messages: [] }, 0), {
      model: "m",
      created_at: "1970-01-01T00:00:00.000Z",
      message: { role: "assistant", content: "" },
      done_reason: "load",
      done: true
    })
    const generate = loadAnswer("generate", { model: "m", keep_alive: "0s" }, 0)
    assert.deepInclude(generate, { response: "", done_reason: "unload", done: true })
    for (const keepAlive of ["5m", -1, "10m"]) {
      assert.deepInclude(loadAnswer("generate", { model: "m", keep_alive: keepAlive }, 0), { done_reason: "load" })
    }
  })

  it("leaves requests that ask something, or name no model, to the checks", () => {
    assert.isNull(loadAnswer("chat", ollamaBody(), 0))
    assert.isNull(loadAnswer("chat", { messages: [] }, 0))
    assert.isNull(loadAnswer("chat", { model: "m", messages: 5 }, 0))
    assert.isNull(loadAnswer("generate", { model: "m", prompt: "", images: [png] }, 0))
  })
})

describe("model answers", () => {
  const model: OfferedModel = {
    id: "p/a",
    owner: "p",
    createdMs: 0,
    contextLength: 4096,
    vision: true,
    reasoning: null,
    toolCalling: null
  }

  it("list models with every member clients read", () => {
    const [tag] = itemsOf(tagsAnswer([model]), "models")
    assert.deepEqual(Object.keys(tag).toSorted(), [
      "capabilities",
      "details",
      "digest",
      "model",
      "modified_at",
      "name",
      "size"
    ])
    assert.match(tag.digest, /^[0-9a-f]{64}$/)
    assert.notStrictEqual(tag.digest, itemsOf(tagsAnswer([{ ...model, id: "p/b" }]), "models")[0].digest)
    assert.deepEqual(tag.details.families, ["p"])
    assert.deepInclude(itemsOf(psAnswer([model]), "models")[0], { name: "p/a", context_length: 4096 })
    assert.match(String(versionAnswer()["version"]), /^\d+\.\d+\.\d+$/)
  })

  it("show what a model can do, and nothing that is not known", () => {
    const shown = showAnswer(model)
    assert.deepEqual(shown["capabilities"], ["completion", "tools", "vision"])
    assert.deepEqual(shown["model_info"], {
      "general.architecture": "p",
      "general.basename": "p/a",
      "p.context_length": 4096
    })
    const unknown = showAnswer({ ...model, contextLength: null, vision: null, reasoning: true, toolCalling: false })
    assert.deepEqual(unknown["capabilities"], ["completion", "thinking"])
    assert.notProperty(unknown["model_info"], "p.context_length")
  })

  it("find a model by name, with or without the default tag", () => {
    assert.strictEqual(findModel([model], "p/a:latest"), model)
    assert.strictEqual(findModel([model], "p/a"), model)
    assert.isNull(findModel([model], "p/a:7b"))
    assert.deepEqual([shownName({ name: "a" }), shownName({ model: "b", name: "a" }), shownName({})], ["a", "b", null])
  })
})

describe("imageTypeOf", () => {
  it("knows pictures by their first bytes", () => {
    const head = (text: string) => imageTypeOf(Buffer.from(text, "latin1").toString("base64"))
    assert.strictEqual(imageTypeOf(png), "image/png")
    assert.strictEqual(head("\u00ff\u00d8\u00ff\u00e0"), "image/jpeg")
    assert.strictEqual(head("GIF89a..."), "image/gif")
    assert.strictEqual(head("RIFF\u0001\u0002\u0003\u0004WEBPVP8 "), "image/webp")
    assert.strictEqual(head("\u0000\u0000\u0000\u001cftypavif"), "image/avif")
    assert.isNull(head("%PDF-1.7"))
    assert.isNull(imageTypeOf(""))
  })
})
