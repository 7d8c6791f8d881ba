/** Pictures in the form of each provider: what is asked, and what is read of its answer. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { ImageAdapter } from "../../../../src/contract/domain/MediaKind.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { images } from "../../../../src/wire/media/images/Codec.ts"
import type { EncodedRequest, WireCodec } from "../../../../src/wire/WireCodec.ts"

const codecOf = (adapter: ImageAdapter | null, wire: WireName = "chat"): WireCodec => {
  const codec = images.peer?.(wire, {}, adapter) ?? null
  if (codec === null) throw new Error("there is no such codec")
  return codec
}

const conversationOf = (request: JsonObject) =>
  Either.getOrThrow(images.decodeRequest({ model: "m", prompt: "A gate", ...request }))

const asked = (codec: WireCodec, model: string, request: JsonObject) =>
  codec.encodeRequest(conversationOf(request), {
    model,
    stream: false,
    maxOutputTokens: null,
    reasoning: null,
    unique: "01a20730-e0ff-7000-b05d-0c6e25a2d95b"
  })

const fieldsOf = ({ payload }: EncodedRequest) =>
  payload?.type === "form"
    ? Object.fromEntries(payload.parts.map((part) => [part.name, "value" in part && part.value]))
    : null

/** The answer as the gateway's clients get it. */
const told = (codec: WireCodec, answer: JsonObject, request: JsonObject = {}) =>
  Either.map(codec.decodeResponse(answer), (response) =>
    images.encodeResponse(response, { nowMs: 5_000, fallbackId: "id", model: "m", wantsUsage: true, request })
  )

const data = (codec: WireCodec, answer: JsonObject) => Either.getOrThrow(told(codec, answer))["data"]

const refusal = (codec: WireCodec, answer: JsonObject) => {
  const problem = Either.getOrThrow(Either.flip(codec.decodeResponse(answer)))
  assert.isNull(codec.readAnswer(answer).stop)
  return [problem.status, problem.code]
}

const filtered = [400, "content_policy_violation"]

describe("Gemini", () => {
  const gemini = codecOf(null, "gemini")

  it("asks a model that answers with pictures for one, in a shape", () => {
    const encoded = asked(gemini, "gemini-2.5-flash-image", { size: "1536x1024", quality: "high", user: "u" })
    assert.deepStrictEqual(encoded.place, { values: { method: "generateContent" }, query: "" })
    assert.deepStrictEqual(encoded.body, {
      contents: [{ role: "user", parts: [{ text: "A gate" }] }],
      generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "3:2" } }
    })
    assert.deepStrictEqual(encoded.dropped, ["quality", "user"])
  })

  it("reads its pictures and its tokens, but no drafts among the thoughts", () => {
    const answer = {
      candidates: [
        {
          content: {
            parts: [
              { text: "Here:" },
              { thought: true, inlineData: { mimeType: "image/png", data: "DDDD" } },
              { inlineData: { mimeType: "image/png", data: "AAAA" } }
            ]
          },
          finishReason: "STOP"
        }
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1290, thoughtsTokenCount: 10 }
    }
    assert.deepStrictEqual(Either.getOrThrow(told(gemini, answer)), {
      created: 5,
      usage: { input_tokens: 7, output_tokens: 1300, total_tokens: 1307 },
      data: [{ b64_json: "AAAA" }]
    })
    assert.deepInclude(gemini.readAnswer(answer).usage, {
      in: 7,
      out: 1300,
      reasoning: 10,
      units: { images: { count: 1, size: null, quality: null } }
    })
  })

  it("asks Imagen for several, and reads them", () => {
    const encoded = asked(gemini, "imagen-4.0-generate-001", { n: 2, size: "1024x1024", output_format: "jpeg" })
    assert.deepStrictEqual(encoded.place?.values, { method: "predict" })
    assert.deepStrictEqual(encoded.body, {
      instances: [{ prompt: "A gate" }],
      parameters: { sampleCount: 2, aspectRatio: "1:1", outputOptions: { mimeType: "image/jpeg" } }
    })
    const answer = { predictions: [{ bytesBase64Encoded: "AAAA" }, { bytesBase64Encoded: "BBBB" }] }
    assert.deepStrictEqual(data(gemini, answer), [{ b64_json: "AAAA" }, { b64_json: "BBBB" }])
  })

  it("makes several with several requests", () => {
    const counts = gemini.partsOf?.(conversationOf({ model: "gemini-2.5-flash-image", n: 3 }))
    assert.deepStrictEqual(
      counts?.map(({ extras = {} }) => extras["n"]),
      [1, 1, 1]
    )
    assert.isNull(gemini.partsOf?.(conversationOf({ model: "imagen-4.0", n: 4 })) ?? null)
  })

  it("takes a refused content for the client's error", () => {
    assert.deepStrictEqual(refusal(gemini, { promptFeedback: { blockReason: "SAFETY" } }), filtered)
    assert.deepStrictEqual(refusal(gemini, { candidates: [{ finishReason: "IMAGE_SAFETY" }] }), filtered)
    assert.deepStrictEqual(refusal(gemini, { predictions: [{ raiFilteredReason: "violence" }] }), filtered)
  })

  it("takes an answer without a picture for none", () => {
    const answer = { candidates: [{ content: { parts: [{ text: "Sorry" }] }, finishReason: "STOP" }] }
    assert.isTrue(Either.isLeft(gemini.decodeResponse(answer)))
    assert.isFalse(gemini.readAnswer(answer).hasContent)
  })
})

describe("Stability", () => {
  const stability = codecOf("stability")

  it("is sent a form to the service of the model", () => {
    const encoded = asked(stability, "stable-image-core", {
      size: "1792x1024",
      output_format: "webp",
      negative_prompt: "people",
      seed: 4,
      response_format: "b64_json",
      quality: "hd"
    })
    assert.deepStrictEqual(encoded.place?.values, { service: "core" })
    assert.deepStrictEqual(fieldsOf(encoded), {
      prompt: "A gate",
      aspect_ratio: "16:9",
      output_format: "webp",
      negative_prompt: "people",
      seed: "4"
    })
    assert.deepStrictEqual(encoded.dropped, ["quality"])
    const other = asked(stability, "sd3.5-large", {})
    assert.deepStrictEqual(other.place?.values, { service: "sd3" })
    assert.deepStrictEqual(fieldsOf(other), { prompt: "A gate", model: "sd3.5-large" })
  })

  it("answers with one picture; a blurred one is a refusal", () => {
    assert.deepStrictEqual(data(stability, { image: "AAAA", finish_reason: "SUCCESS", seed: 4 }), [
      { b64_json: "AAAA" }
    ])
    assert.deepStrictEqual(refusal(stability, { image: "AAAA", finish_reason: "CONTENT_FILTERED" }), filtered)
  })
})

describe("servers and services that answer at once", () => {
  it("SD web UI is told the checkpoint and the size", () => {
    const webUi = codecOf("sdwebui")
    const request = { n: 2, size: "512x768", steps: 20, override_settings: { CLIP_stop_at_last_layers: 2 } }
    assert.deepStrictEqual(asked(webUi, "sdxl", request).body, {
      prompt: "A gate",
      batch_size: 2,
      width: 512,
      height: 768,
      steps: 20,
      override_settings: { sd_model_checkpoint: "sdxl", CLIP_stop_at_last_layers: 2 }
    })
    assert.deepStrictEqual(asked(webUi, "default", {}).body["override_settings"], {})
    const pictures = [{ b64_json: "AAAA" }, { b64_json: "BBBB" }]
    assert.deepStrictEqual(data(webUi, { images: ["AAAA", "data:image/png;base64,BBBB"], info: "{}" }), pictures)
  })

  it("Together wants the size in two numbers, and calls base64 by its name", () => {
    const together = codecOf("together")
    const request = { n: 2, size: "1024x768", response_format: "b64_json", steps: 4 }
    assert.deepStrictEqual(asked(together, "flux", request).body, {
      model: "flux",
      prompt: "A gate",
      n: 2,
      width: 1024,
      height: 768,
      response_format: "base64",
      steps: 4
    })
    assert.strictEqual(asked(together, "flux", { response_format: "url" }).body["response_format"], "url")
  })

  it("xAI wants a shape in place of a size, and knows no quality", () => {
    const { body, dropped } = asked(codecOf("xai"), "grok-imagine-image", { size: "1024x1792", quality: "hd" })
    assert.deepStrictEqual(body, { model: "grok-imagine-image", prompt: "A gate", n: 1, aspect_ratio: "9:16" })
    assert.deepStrictEqual(dropped, ["quality"])
  })

  it("Nebius, Recraft, Hyperbolic, Fireworks, Ideogram and OpenRouter have forms of their own", () => {
    const request = { size: "1024x1024", output_format: "jpeg", style: "digital_illustration" }
    assert.deepStrictEqual(asked(codecOf("nebius"), "flux", request).body, {
      model: "flux",
      prompt: "A gate",
      width: 1024,
      height: 1024,
      response_extension: "jpg"
    })
    assert.deepStrictEqual(asked(codecOf("recraft"), "recraftv3", request).body, {
      model: "recraftv3",
      prompt: "A gate",
      n: 1,
      size: "1024x1024",
      style: "digital_illustration"
    })
    assert.deepStrictEqual(asked(codecOf("hyperbolic"), "SDXL1.0-base", request).body, {
      model_name: "SDXL1.0-base",
      prompt: "A gate",
      width: 1024,
      height: 1024
    })
    const fireworks = asked(codecOf("fireworksImages"), "accounts/fireworks/models/flux-1-schnell-fp8", request)
    assert.deepStrictEqual(fireworks.body, { prompt: "A gate", aspect_ratio: "1:1" })
    assert.deepStrictEqual(fireworks.place?.values, { account: "fireworks", name: "flux-1-schnell-fp8" })
    assert.deepStrictEqual(fieldsOf(asked(codecOf("ideogram"), "ideogram-v3", { ...request, n: 2 })), {
      prompt: "A gate",
      num_images: "2",
      aspect_ratio: "1x1"
    })
    assert.deepStrictEqual(asked(codecOf("openrouterImages"), "google/gemini-2.5-flash-image", request).body, {
      model: "google/gemini-2.5-flash-image",
      messages: [{ role: "user", content: "A gate" }],
      modalities: ["image", "text"],
      image_config: { aspect_ratio: "1:1" }
    })
  })

  it("their pictures are read", () => {
    const url = "https://example.com/a.png"
    assert.deepStrictEqual(data(codecOf("hyperbolic"), { images: [{ image: "AAAA", index: 0 }] }), [
      { b64_json: "AAAA" }
    ])
    assert.deepStrictEqual(data(codecOf("fireworksImages"), { base64: ["AAAA"], finishReason: "SUCCESS" }), [
      { b64_json: "AAAA" }
    ])
    assert.deepStrictEqual(data(codecOf("ideogram"), { data: [{ url, is_image_safe: true }] }), [{ url }])
    const message = { content: "", images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }
    assert.deepStrictEqual(data(codecOf("openrouterImages"), { choices: [{ message, finish_reason: "stop" }] }), [
      { b64_json: "AAAA" }
    ])
  })

  it("their refusals are the client's errors", () => {
    assert.deepStrictEqual(
      refusal(codecOf("fireworksImages"), { base64: ["AAAA"], finishReason: "CONTENT_FILTERED" }),
      filtered
    )
    assert.deepStrictEqual(refusal(codecOf("ideogram"), { data: [{ url: null, is_image_safe: false }] }), filtered)
    const choice = { message: { content: "" }, finish_reason: "content_filter" }
    assert.deepStrictEqual(refusal(codecOf("openrouterImages"), { choices: [choice] }), filtered)
  })
})
