import { assert, describe, it } from "@effect/vitest"
import { converses } from "../../../src/plane/providers/ChatModels.ts"
import { registry } from "../../../src/plane/providers/Registry.ts"

const unknown = { inputModalities: null, outputModalities: null }

describe("converses", () => {
  it("goes by the name where nothing is known", () => {
    for (const id of ["gpt-4o", "claude-sonnet-4-5", "qwen2.5-vl-72b", "llama-3.3-70b-versatile"]) {
      assert.isTrue(converses(id, unknown, null), id)
    }
    const others =
      "text-embedding-3-small gpt-image-1 tts-1 gpt-4o-mini-tts whisper-large-v3 gpt-4o-transcribe sora-2 kling-v2 suno-v4"
    const more =
      "omni-moderation-latest rerank-2.5 gpt-realtime davinci-002 gpt-3.5-turbo-instruct speech-2.8-hd scribe_v1"
    for (const id of `${others} ${more}`.split(" ")) assert.isFalse(converses(id, unknown, null), id)
  })

  it("goes by what is known of its output and input", () => {
    assert.isTrue(converses("house-image", { inputModalities: ["text"], outputModalities: ["text"] }, null))
    assert.isFalse(converses("house", { inputModalities: ["text"], outputModalities: ["image"] }, null))
    assert.isFalse(converses("house", { inputModalities: ["audio"], outputModalities: ["text"] }, null))
  })

  it("is false for every model of a service that has no chat", () => {
    for (const id of ["assemblyai", "deepgram", "elevenlabs", "voyage-ai", "jina-ai", "recraft", "tavily"]) {
      assert.isFalse(converses("universal-3-pro", unknown, registry.get(id) ?? null), id)
    }
    assert.isTrue(converses("sonar", unknown, registry.get("perplexity") ?? null))
  })
})
