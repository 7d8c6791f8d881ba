/**
 * Requests that coding agents make by themselves, beside what their user asked: titles, summaries, checks of the topic. Recognised by the
 * marks that docs/routing.md lists; a request that offers tools is none. Pure.
 */
import * as Either from "effect/Either"
import { headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation, Message } from "../../wire/canonical/Conversation.ts"

/** Says of a request that it is one (`true`), or that it is none (`false`). */
export const backgroundHeader = "x-gateway-background"

/** Characters at the begin of a text that are looked at. */
const sampleChars = 2_048

/**
 * Beginnings of the instructions of such requests, in lower case and with single spaces, as agents send them: Claude Code, OpenCode, Codex, Gemini
 * CLI, Goose, Zed, Open WebUI.
 */
const instructions: ReadonlyArray<string> = [
  "analyze if this message indicates a new conversation topic",
  "generate a concise, sentence-case title",
  "generate a concise title",
  "generate a short title",
  "you are generating a succinct title",
  "you are a title generator",
  "you are an expert at creating short titles",
  "you are a helpful ai assistant tasked with summarizing conversations",
  "summarize this coding conversation",
  "you are performing a context checkpoint compaction",
  "you are the component that summarizes internal chat history"
]

/** The same of what such requests say as the user. */
const questions: ReadonlyArray<string> = [
  "please write a 5-10 word title for the following conversation",
  "summarize this coding conversation in under 50 characters",
  "generate a title for this conversation",
  "generate a concise 3-7 word title for this conversation",
  "generate a detailed summary of this conversation",
  "based on the conversation so far, provide a concise description of this session",
  "analyze *only* the content and structure of your immediately preceding response",
  "### task: generate a concise, 3-5 word title",
  "### task: generate 1-3 broad tags",
  "### task: suggest 3-5 relevant follow-up questions",
  "you are performing a context checkpoint compaction",
  "your task is to create a detailed summary of the conversation so far"
]

/** Claude Code's question whether its account has quota left. */
const probe = "quota"

const beginOf = (text: string): string => text.slice(0, sampleChars).toLowerCase().replaceAll(/\s+/g, " ").trim()

const textsOf = ({ parts }: Message): ReadonlyArray<string> =>
  parts.flatMap((part) => (part.type === "text" ? [beginOf(part.text)] : []))

const beginsWithOne = (marks: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean =>
  texts.some((text) => marks.some((mark) => text.startsWith(mark)))

const isInstruction = ({ role }: Message): boolean => role === "system" || role === "developer"

/** The agents put their own name and the date before their instructions, in parts of their own. */
const maxInstructions = 8

const isMarked = ({ maxOutputTokens, messages }: Conversation): boolean => {
  const instructionTexts = messages
    .filter(isInstruction)
    .slice(0, maxInstructions)
    .flatMap(textsOf)
    .slice(0, maxInstructions)
  if (beginsWithOne(instructions, instructionTexts)) return true
  const last = messages.findLast((message) => !isInstruction(message))
  if (last?.role !== "user") return false
  const asked = textsOf(last).slice(-maxInstructions)
  if (beginsWithOne(questions, asked)) return true
  return maxOutputTokens === 1 && messages.length <= 2 && asked.length === 1 && asked[0] === probe
}

/** Checks whether a request is one. Its header takes precedence. */
export const isBackground = (
  headers: RequestHeaders,
  hasTools: boolean,
  conversation: () => Either.Either<Conversation, InvalidRequest>
): boolean => {
  const said = headerOf(headers, backgroundHeader)?.trim().toLowerCase()
  if (said === "true" || said === "false") return said === "true"
  if (hasTools) return false
  const read = Either.getOrNull(conversation())
  return read !== null && isMarked(read)
}
