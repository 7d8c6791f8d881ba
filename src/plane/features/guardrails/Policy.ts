/**
 * Decides which guardrails act on a request: by flags, the gateway's settings, and the header by which a key with the scope `guardrails:bypass`
 * switches some off for one request (`x-gateway-disabled-guardrails`).
 */
import { headerOf } from "../../../subjects/auth/Credentials.ts"
import type { Flags } from "../../../subjects/flags/service.ts"
import { mayNeedCleaning } from "../../guard/Sanitiser.ts"
import {
  defaultStructuredOutput,
  type StructuredOutput,
  type ToolPolicy
} from "../../../contract/domain/AnswerRules.ts"
import { type GuardrailName, guardrailNames, type GuardrailSettings } from "../../../subjects/guardrails/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { codecs } from "../../../wire/Codec.ts"
import { completions } from "../../../wire/media/completions/Codec.ts"
import { geminiArray } from "../../../wire/gemini/Codec.ts"
import { ollamaGenerate } from "../../../wire/ollama/Codec.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"
import type { Work } from "../../request/Exchange.ts"
import type { TextMode } from "./answers/AnswerGuard.ts"
import { type MayUse, ruleOf } from "./ToolPolicy.ts"

export const bypassScope = "guardrails:bypass"
export const bypassHeader = "x-gateway-disabled-guardrails"

const otherNames: Readonly<Record<string, ReadonlyArray<GuardrailName>>> = {
  all: guardrailNames,
  "*": guardrailNames,
  true: guardrailNames,
  "prompt-injection": ["injection"],
  "pii-masker": ["pii", "pii-response"],
  "input-sanitizer": ["sanitizer"]
}

const isGuardrail = (name: string): name is GuardrailName => guardrailNames.some((each) => each === name)

const namedIn = (header: string): ReadonlyArray<GuardrailName> =>
  header
    .toLowerCase()
    .split(",", guardrailNames.length + 8)
    .flatMap((name) => {
      const trimmed = name.trim()
      return isGuardrail(trimmed) ? [trimmed] : (otherNames[trimmed] ?? [])
    })

/** Finds the exceptions for the request's key; undefined for none. */
const keyRules = ({ keys }: GuardrailSettings, { principal }: Work["exchange"]) =>
  principal._tag === "Key" ? keys.find(({ apiKeyId }) => apiKeyId === principal.key.id) : undefined

/**
 * Lists the guardrails that are switched off by the operator for the key, or by the request; a header that is not
 * allowed switches nothing off.
 */
export const switchedOff = (settings: GuardrailSettings, exchange: Work["exchange"]): ReadonlySet<GuardrailName> => {
  const { headers, principal } = exchange
  const header = headerOf(headers, bypassHeader)
  const mayBypass = principal._tag === "Key" && principal.key.scopes.includes(bypassScope)
  return new Set([
    ...(keyRules(settings, exchange)?.disabledGuardrails ?? []),
    ...(header !== null && mayBypass ? namedIn(header) : [])
  ])
}

export type InjectionMode = "warn" | "block" | "redact"

/** Guardrails that act on one request. */
export interface Active {
  readonly sanitiser: boolean
  readonly injection: InjectionMode | null
  readonly personalData: boolean
  /** Treatment of personal data in the answer; null: it is not looked at. */
  readonly answers: TextMode | null
  /** Rule for the tools that may be offered and called, and for others; null: all may. */
  readonly tools: ToolRule | null
  readonly structured: StructuredOutput
}

/** `warn`: they are offered and called, with a mark. */
export interface ToolRule {
  readonly mayUse: MayUse
  readonly action: "warn" | ToolPolicy["action"]
}

const toolsOf = (toolPolicy: ToolPolicy, mode: "warn" | "block" | "disabled"): ToolRule | null => {
  const mayUse = mode === "disabled" ? null : ruleOf(toolPolicy)
  return mayUse === null ? null : { mayUse, action: mode === "warn" ? "warn" : toolPolicy.action }
}

type FlagReader = Pick<Flags["Type"], "isOn" | "value">

const chatLike: ReadonlyMap<WireCodec, WireName> = new Map<WireCodec, WireName>([
  [codecs.chat, "chat"],
  [codecs.messages, "messages"],
  [codecs.responses, "responses"],
  [codecs.gemini, "gemini"],
  [codecs.ollama, "ollama"],
  [completions, "chat"],
  [geminiArray, "gemini"],
  [ollamaGenerate, "ollama"]
])

/** Requests for pictures, embeddings and jobs have codecs of their own, and are left as they are. */
export const isChatLike = ({ exchange }: Work): boolean => chatLike.get(exchange.codec) === exchange.wire

const answersMode = ({ isOn, value }: FlagReader): TextMode | null => {
  if (!isOn("PII_RESPONSE_SANITIZATION")) return null
  const mode = value("PII_RESPONSE_SANITIZATION_MODE")
  return mode === "off" ? null : mode
}

/** Hot: checks whether anything acts on this request. */
export const concerns = (flags: FlagReader, settings: GuardrailSettings, work: Work): boolean => {
  const isWanted =
    ((settings.toolPolicy.mode !== "off" || settings.keys.length > 0) &&
      flags.value("TOOL_POLICY_MODE") !== "disabled") ||
    (settings.structuredOutput.check && work.envelope.wantsSchema) ||
    flags.isOn("PII_REDACTION_ENABLED") ||
    flags.value("INJECTION_GUARD_MODE") !== "off" ||
    flags.isOn("PII_RESPONSE_SANITIZATION") ||
    (flags.isOn("INPUT_SANITIZER_ENABLED") && mayNeedCleaning(work.body))
  return isWanted && isChatLike(work)
}

export const activeFor = (flags: FlagReader, settings: GuardrailSettings, work: Work): Active => {
  const off = switchedOff(settings, work.exchange)
  const policy = keyRules(settings, work.exchange)?.toolPolicy ?? settings.toolPolicy
  const mode = flags.value("INJECTION_GUARD_MODE")
  return {
    sanitiser: flags.isOn("INPUT_SANITIZER_ENABLED") && !off.has("sanitizer") && mayNeedCleaning(work.body),
    injection: mode === "off" || off.has("injection") ? null : mode,
    personalData: flags.isOn("PII_REDACTION_ENABLED") && !off.has("pii"),
    answers: off.has("pii-response") ? null : answersMode(flags),
    tools: off.has("tools") ? null : toolsOf(policy, flags.value("TOOL_POLICY_MODE")),
    structured: off.has("schema") ? defaultStructuredOutput : settings.structuredOutput
  }
}
