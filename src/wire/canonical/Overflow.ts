/**
 * The error "the conversation does not fit" as the clients of each wire recognise it: coding agents shorten their history on these
 * messages, and give up on others.
 */

interface Window {
  /** Tokens of the prompt, and the model's maximum. */
  readonly prompt: number
  readonly limit: number
}

/**
 * Patterns for the two numbers as providers write them. The patterns have no nested repetition, and messages are
 * bounded by the caller.
 */
const patterns: ReadonlyArray<readonly [pattern: RegExp, prompt: number, limit: number]> = [
  // https://platform.claude.com/docs/en/api/errors: "prompt is too long: 201537 tokens > 200000 maximum"
  [/too long: (\d{1,12}) tokens? > (\d{1,12})/i, 1, 2],
  // https://ai.google.dev/gemini-api/docs/troubleshooting: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"
  [/input token count \(?(\d{1,12})\)? exceeds the maximum number of tokens allowed \(?(\d{1,12})/i, 1, 2],
  // https://developers.openai.com/api/docs/guides/error-codes: "maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens"
  [/maximum context length is (\d{1,12}) tokens[^\d]{1,80}(\d{1,12}) tokens/i, 2, 1],
  // llama.cpp's server: "the request exceeds the available context size (4096 tokens) … 9000 tokens"
  [/\((\d{1,12}) tokens\) exceeds the available context size \((\d{1,12}) tokens/i, 1, 2]
]

const windowOf = (message: string): Window | null => {
  for (const [pattern, prompt, limit] of patterns) {
    const found = pattern.exec(message)
    if (found !== null) return { prompt: Number(found[prompt]), limit: Number(found[limit]) }
  }
  return null
}

/** Writes the message for the messages wire; Claude Code compacts its history on "prompt is too long". */
export const promptTooLong = (message: string): string => {
  if (/prompt is too long/i.test(message)) return message
  const window = windowOf(message)
  return window === null
    ? `prompt is too long: ${message}`
    : `prompt is too long: ${window.prompt} tokens > ${window.limit} maximum`
}

/** Writes the message for the gemini wire. */
export const inputTokenCountExceeds = (message: string): string => {
  if (/exceeds the maximum number of tokens allowed/i.test(message)) return message
  const window = windowOf(message)
  return window === null
    ? `The input token count exceeds the maximum number of tokens allowed: ${message}`
    : `The input token count (${window.prompt}) exceeds the maximum number of tokens allowed (${window.limit}).`
}

/** Writes the message for the chat and ollama wires. */
export const maximumContextLength = (message: string): string => {
  if (/maximum context length|context window|context length/i.test(message)) return message
  const window = windowOf(message)
  return window === null
    ? `This model's maximum context length is exceeded: ${message}`
    : `This model's maximum context length is ${window.limit} tokens. However, your messages resulted in ${window.prompt} tokens. Please reduce the length of the messages.`
}

/** Writes the message for the responses wire. */
export const exceedsContextWindow = (message: string): string =>
  /exceeds the context window/i.test(message)
    ? message
    : `Your input exceeds the context window of this model. Please adjust your input and try again. (${message})`
