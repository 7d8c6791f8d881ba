/**
 * Facts by the names of well-known model families: a small table kept by hand, used after the operator's declarations and
 * the upstream's own list. A fact is listed only when it holds for every model the pattern matches. Windows are given for
 * models that their makers serve; those of open weights depend on who serves them. No match means nothing is known.
 */
import { type Modality, type ModelFacts, unknownFacts } from "./ModelFacts.ts"

type Known = Partial<ModelFacts>
type Family = readonly [pattern: RegExp, facts: Known]

const k = 1_000
const ki = 1_024
const mi = 1_048_576

const text: ReadonlyArray<Modality> = ["text"]
const seeing: ReadonlyArray<Modality> = ["text", "image"]
const reading: ReadonlyArray<Modality> = ["text", "image", "file"]
const all: ReadonlyArray<Modality> = ["text", "image", "audio", "video", "file"]

const window = (contextLength: number, maxOutputTokens?: number): Known =>
  maxOutputTokens === undefined ? { contextLength } : { contextLength, maxOutputTokens }

const chat = { outputModalities: text, toolCalling: true } satisfies Known
const blind = { inputModalities: text, vision: false } satisfies Known
const sighted = { inputModalities: seeing, vision: true } satisfies Known
const plain = { reasoning: false } satisfies Known
const thinking = { reasoning: true } satisfies Known
const structured = { structuredOutput: true } satisfies Known

const claude = { ...chat, inputModalities: reading, vision: true } satisfies Known
const claudeThinking = { ...claude, ...thinking, noThinkingAlias: true } satisfies Known
const gemini = { ...chat, ...structured, inputModalities: all, vision: true } satisfies Known
const gpt = { ...chat, ...sighted, ...structured } satisfies Known

/** Models that do not hold conversations. */
const noConversation: ReadonlyArray<Family> = [
  [
    /embed|(?:^|[-_])(?:bge|e5|gte|minilm)[-_]/,
    { outputModalities: ["embedding"], reasoning: false, toolCalling: false, structuredOutput: false }
  ],
  [
    /whisper|transcribe|voxtral-mini-transcribe/,
    { inputModalities: ["audio"], outputModalities: text, vision: false, reasoning: false, toolCalling: false }
  ],
  [
    /(?:^|[-_])tts(?:$|[-_])/,
    { inputModalities: text, outputModalities: ["audio"], vision: false, reasoning: false, toolCalling: false }
  ],
  [
    /dall-e|gpt-image|gpt-5(?:\.\d)?-image|imagen|flux|stable-diffusion|gemini-[\d.]+-(?:flash|pro)(?:-lite)?(?:-preview)?-image/,
    { outputModalities: ["image"], toolCalling: false }
  ],
  [/moderation|rerank|guard/, { toolCalling: false, reasoning: false }],
  [/realtime|(?:^|-)audio|-live(?:-|$)|computer-use|deep-research|-ocr/, {}]
]

const anthropic: ReadonlyArray<Family> = [
  [/claude-(?:instant|v?[12](?:[.:-]|$))/, { ...chat, ...blind, ...plain, toolCalling: false }],
  [/claude-3-(?:opus|sonnet|haiku)/, { ...claude, ...plain, ...window(200 * k, 4_096) }],
  [/claude-3[-.]5-(?:sonnet|haiku)/, { ...claude, ...plain, ...window(200 * k, 8_192) }],
  [/claude-3[-.]7-sonnet/, { ...claudeThinking, ...window(200 * k, 64 * k) }],
  [
    /claude-opus-4(?:-[01])?(?:$|[@:]|-20\d{6}|-v\d)|claude-opus-4[.]1/,
    { ...claudeThinking, ...window(200 * k, 32 * k) }
  ],
  [/claude-sonnet-4(?:-0)?(?:$|[@:]|-20\d{6}|-v\d)/, { ...claudeThinking, ...window(200 * k, 64 * k) }],
  [/claude-(?:opus|sonnet|haiku)-4[-.]5/, { ...claudeThinking, ...structured, ...window(200 * k, 64 * k) }],
  // Reasoning of these cannot be turned off.
  [/claude-(?:fable|mythos)/, { ...claude, ...thinking, ...structured, noThinkingAlias: false }],
  [/claude-(?:opus|sonnet|haiku)-(?:4[-.][6-9]|[5-9])/, { ...claudeThinking, ...structured }]
]

const openai: ReadonlyArray<Family> = [
  [/gpt-3\.5-turbo(?!-instruct)/, { ...chat, ...blind, ...plain, ...window(16_385, 4_096) }],
  [/chatgpt-4o/, { ...sighted, ...plain, outputModalities: text, ...window(128 * k, 16_384) }],
  [/gpt-4o(?:-mini)?-search/, { ...plain, outputModalities: text, ...window(128 * k, 16_384) }],
  [/gpt-4o/, { ...gpt, ...plain, ...window(128 * k, 16_384) }],
  [/gpt-4\.1/, { ...gpt, ...plain, ...window(1_047_576, 32_768) }],
  [/gpt-4\.5/, { ...gpt, ...plain, ...window(128 * k, 16_384) }],
  [/gpt-4-turbo(?!-preview)/, { ...chat, ...sighted, ...plain, ...window(128 * k, 4_096) }],
  [/gpt-4(?:$|-0[36])/, { ...chat, ...blind, ...plain, ...window(8_192, 8_192) }],
  [/gpt-oss/, { ...chat, ...blind, ...thinking }],
  [/gpt-5(?:\.\d)?-chat/, { ...gpt, ...plain, ...window(128 * k, 16_384) }],
  [/gpt-5(?:-(?:mini|nano|codex)|$|-20)/, { ...gpt, ...thinking, ...window(400 * k, 128 * k) }],
  [/gpt-5-pro/, { ...gpt, ...thinking, ...window(400 * k) }],
  [/gpt-5\.[12](?!\d)/, { ...gpt, ...thinking, ...window(400 * k, 128 * k) }],
  [/gpt-[5-9]/, { ...gpt, ...thinking }],
  [/(?:^|[^a-z])o1-mini/, { ...chat, ...blind, ...thinking, toolCalling: false, ...window(128 * k, 65_536) }],
  [/(?:^|[^a-z])o1-preview/, { ...chat, ...blind, ...thinking, toolCalling: false, ...window(128 * k, 32_768) }],
  [/(?:^|[^a-z])o3-mini/, { ...chat, ...blind, ...structured, ...thinking, ...window(200 * k, 100 * k) }],
  [/(?:^|[^a-z])o(?:1|3|4-mini)(?:$|-)/, { ...gpt, ...thinking, ...window(200 * k, 100 * k) }]
]

const google: ReadonlyArray<Family> = [
  [/gemini-1\.5-pro/, { ...gemini, ...plain, ...window(2 * mi, 8_192) }],
  [/gemini-1\.5-flash/, { ...gemini, ...plain, ...window(mi, 8_192) }],
  [/gemini-2\.0-flash-thinking/, { ...gemini, ...thinking, toolCalling: null }],
  [/gemini-2\.0-flash/, { ...gemini, ...plain, ...window(mi, 8_192) }],
  [/gemini-2\.5-(?:pro|flash)/, { ...gemini, ...thinking, ...window(mi, 65_536) }],
  [/gemini-3-(?:pro|flash)/, { ...gemini, ...thinking, ...window(mi, 65_536) }],
  [/gemini-(?:[3-9]|\d{2})|gemini-(?:pro|flash|flash-lite)-latest/, { ...gemini, ...thinking }],
  [/gemma-?3n/, { ...sighted, outputModalities: text, ...plain }],
  [/gemma-?3[-:](?:1b|270m)/, { ...blind, outputModalities: text, ...plain }],
  [/gemma-?3/, { ...sighted, outputModalities: text, ...plain }],
  [/gemma-?2?(?:[-:]|$)/, { ...blind, outputModalities: text, ...plain }]
]

const others: ReadonlyArray<Family> = [
  [/grok-code-fast/, { ...chat, ...blind, ...thinking, ...window(256 * k) }],
  [
    /grok-4[-.]1-fast-non-reasoning|grok-4-fast-non-reasoning/,
    { ...chat, ...sighted, ...structured, ...plain, ...window(2_000 * k) }
  ],
  [/grok-4[-.]1-fast|grok-4-fast/, { ...chat, ...sighted, ...structured, ...thinking, ...window(2_000 * k) }],
  [/grok-4(?:$|-0709|-latest)/, { ...chat, ...sighted, ...structured, ...thinking, ...window(256 * k) }],
  [/grok-3-mini/, { ...chat, ...blind, ...structured, ...thinking, ...window(131_072) }],
  [/grok-3/, { ...chat, ...blind, ...structured, ...plain, ...window(131_072) }],
  [/grok-2-vision/, { ...sighted, ...plain, outputModalities: text, ...window(32_768) }],
  [/deepseek-chat/, { ...chat, ...blind, ...window(128 * ki) }],
  [/deepseek-reasoner/, { ...blind, ...thinking, outputModalities: text, ...window(128 * ki) }],
  [/deepseek-?(?:ai\.)?r1|deepseek\.r1/, { ...blind, ...thinking, outputModalities: text }],
  [/deepseek-v3[.p]?[12]/, { ...chat, ...blind, ...thinking }],
  [/deepseek-(?:v3|coder)/, { ...blind, outputModalities: text, ...plain }],
  [/magistral/, { ...chat, ...thinking }],
  [/pixtral/, { ...chat, ...sighted, ...plain }],
  [/codestral/, { ...chat, ...blind, ...plain }],
  [/mi[sx]tral-(?:7b|8x7b|8x22b|nemo)/, { ...blind, outputModalities: text, ...plain }],
  [/qwen.*-?vl|qvq/, { ...sighted, outputModalities: text }],
  [/qwq/, { ...chat, ...blind, ...thinking }],
  [/qwen3-coder/, { ...chat, ...blind, ...plain }],
  [/qwen3.*-thinking/, { ...chat, ...blind, ...thinking }],
  [/qwen3.*-instruct-2507/, { ...chat, ...blind, ...plain }],
  [/qwen3(?:[-:]\d|$)/, { ...chat, ...blind, ...thinking }],
  [/qwen2(?:\.5|p5)?(?:-coder)?(?:[-:]\d|$)/, { ...blind, outputModalities: text, ...plain }],
  [/llama-?4/, { ...chat, ...sighted, ...plain }],
  [/llama-?3[.p-]?2[-:](?:11b|90b)|llama3\.2-vision|llava/, { ...sighted, outputModalities: text, ...plain }],
  [/llama-?3[.-]?[13](?!\d)/, { ...chat, ...blind, ...plain }],
  [/llama-?[23](?!\d)/, { ...blind, outputModalities: text, ...plain }],
  [/kimi-k2-thinking/, { ...chat, ...blind, ...thinking }],
  [/kimi-k2(?:$|-)/, { ...chat, ...blind, ...plain }],
  [/glm-4[.p]\dv/, { ...chat, ...sighted, ...thinking }],
  [/glm-4[.p][5-7]/, { ...chat, ...blind, ...thinking }],
  [/command-(?:r|a)(?:$|[-+])/, { outputModalities: text, toolCalling: true }],
  [/phi-4(?:$|:)/, { ...blind, outputModalities: text, ...plain }]
]

const families: ReadonlyArray<Family> = [...noConversation, ...anthropic, ...openai, ...google, ...others]

const longestName = 300

/** Derives facts from a model's name, at any provider and with any path before it. */
export const factsOfName = (model: string): ModelFacts => {
  if (model.length > longestName) return unknownFacts
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
  const family = families.find(([pattern]) => pattern.test(name))
  return family === undefined ? unknownFacts : { ...unknownFacts, ...family[1] }
}
