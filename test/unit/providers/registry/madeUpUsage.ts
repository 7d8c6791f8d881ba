/** Usage in shapes no recording was found of: numbers of no answer, members as the providers document them. */
import type { TokenCounts } from "../../../../src/contract/domain/Usage.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import type { Answer } from "./usageAnswers.ts"

export const madeUp = (provider: string, usage: JsonObject, read: Partial<TokenCounts>): Answer => ({
  provider,
  model: "m",
  source: null,
  usage,
  read
})

export const madeUpChat: ReadonlyArray<Answer> = [
  madeUp("cohere", { prompt_tokens: 16, completion_tokens: 34, total_tokens: 50 }, { in: 16, out: 34 }),
  madeUp("novita", { prompt_tokens: 210, completion_tokens: 500, total_tokens: 710 }, { in: 210, out: 500 }),
  // The figures of the report that made the table.
  madeUp(
    "xai",
    {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 241,
      prompt_tokens_details: { text_tokens: 12, audio_tokens: 0, image_tokens: 0, cached_tokens: 11 },
      completion_tokens_details: { reasoning_tokens: 228, audio_tokens: 0 },
      num_sources_used: 0
    },
    { in: 12, out: 229, reasoning: 228, cacheRead: 11 }
  ),
  // Without a total the table decides.
  madeUp(
    "xai",
    { prompt_tokens: 12, completion_tokens: 300, completion_tokens_details: { reasoning_tokens: 228 } },
    { in: 12, out: 528, reasoning: 228 }
  ),
  // A total that is told decides for every provider.
  madeUp(
    "xai",
    {
      prompt_tokens: 12,
      completion_tokens: 300,
      total_tokens: 312,
      completion_tokens_details: { reasoning_tokens: 228 }
    },
    { in: 12, out: 300, reasoning: 228 }
  ),
  // Reasoning that only the total tells of.
  madeUp("xai", { prompt_tokens: 12, completion_tokens: 1, total_tokens: 241 }, { in: 12, out: 229 }),
  madeUp(
    "together",
    { prompt_tokens: 40, completion_tokens: 9, total_tokens: 49, cached_tokens: 32 },
    { in: 40, out: 9, cacheRead: 32 }
  ),
  madeUp(
    "moonshot",
    { prompt_tokens: 1200, completion_tokens: 30, total_tokens: 1230, cached_tokens: 1024 },
    { in: 1200, out: 30, cacheRead: 1024 }
  ),
  madeUp(
    "openrouter",
    {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cost: 0.95
    },
    { in: 194, out: 2, cacheRead: 90, cacheWrite: 100 }
  ),
  madeUp(
    "vercel-ai-gateway",
    {
      prompt_tokens: 675,
      completion_tokens: 1,
      total_tokens: 676,
      prompt_tokens_details: { cached_tokens: 600 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cache_creation_input_tokens: 40
    },
    { in: 675, out: 1, cacheRead: 600, cacheWrite: 40 }
  ),
  madeUp(
    "alibaba",
    {
      prompt_tokens: 3019,
      completion_tokens: 1668,
      total_tokens: 4687,
      completion_tokens_details: { reasoning_tokens: 1353, text_tokens: 315 },
      prompt_tokens_details: { cached_tokens: 2048, cache_creation_input_tokens: 900 }
    },
    { in: 3019, out: 1668, cacheRead: 2048, cacheWrite: 900, reasoning: 1353 }
  ),
  madeUp(
    "sglang",
    {
      prompt_tokens: 40,
      total_tokens: 340,
      completion_tokens: 300,
      prompt_tokens_details: null,
      reasoning_tokens: 250
    },
    { in: 40, out: 300, reasoning: 250 }
  ),
  // Audio stands beside the prompt.
  madeUp(
    "mistral",
    {
      prompt_audio_seconds: 12,
      prompt_tokens: 3,
      total_tokens: 419,
      completion_tokens: 41,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 }
    },
    { in: 378, out: 41 }
  ),
  // A server that counts only a total.
  madeUp("litellm", { prompt_tokens: 21, total_tokens: 81 }, { in: 21, out: 60 }),
  // A prompt without what was read from the cache.
  madeUp(
    "litellm",
    { prompt_tokens: 4, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 160 } },
    { in: 164, out: 2, cacheRead: 160 }
  ),
  // Cached tokens beside a prompt that is more than they are: the total tells.
  madeUp(
    "litellm",
    { prompt_tokens: 400, completion_tokens: 20, total_tokens: 580, cache_read_input_tokens: 160 },
    { in: 560, out: 20, cacheRead: 160 }
  ),
  madeUp(
    "litellm",
    {
      prompt_tokens: 4,
      completion_tokens: 20,
      total_tokens: 24,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 900
    },
    { in: 904, out: 20, cacheWrite: 900 }
  ),
  // Both sides leave a part out.
  madeUp(
    "litellm",
    {
      prompt_tokens: 400,
      completion_tokens: 20,
      total_tokens: 680,
      prompt_tokens_details: { cached_tokens: 160 },
      completion_tokens_details: { reasoning_tokens: 100 }
    },
    { in: 560, out: 120, cacheRead: 160, reasoning: 100 }
  )
]
