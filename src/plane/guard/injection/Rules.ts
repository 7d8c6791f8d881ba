/**
 * Patterns of attempts to take over a model, as data. A speed bump, and no border: an author who knows the rules writes around them. Every pattern
 * is bounded, and looks at lower-case text without invisible characters.
 */

export type Severity = "low" | "medium" | "high"

export const injectionGroups = [
  "system-override",
  "role-hijack",
  "prompt-leak",
  "delimiter",
  "jailbreak",
  "encoding",
  "hidden-text"
] as const
export type InjectionGroup = (typeof injectionGroups)[number]

export interface InjectionRule {
  readonly group: InjectionGroup
  readonly severity: Severity
  readonly pattern: RegExp
}

const rule = (group: InjectionGroup, severity: Severity, body: string): InjectionRule => ({
  group,
  severity,
  pattern: new RegExp(body, "g")
})

/** A few words in between. */
const gap = "(?:[ ,]{1,3}[\\w']{1,16}){0,4}[ ,]{1,3}"
const forget = "(?:ignore|disregard|forget|override|bypass|discard|do not (?:follow|obey)|stop (?:following|obeying))"
const earlier = "(?:previous|prior|above|earlier|preceding|existing|original|initial|former|your|system|all)"
const orders =
  "(?:instructions?|prompts?|directives?|rules|guidelines|commands?|programming|constraints|context|messages?)"
const secretText =
  "(?:system prompt|system message|system instructions?|initial (?:prompt|instructions?)|hidden (?:prompt|instructions?)|(?:your )?(?:original|secret|internal) (?:prompt|instructions?)|(?:the )?(?:prompt|instructions?|text) above)"

export const injectionRules: ReadonlyArray<InjectionRule> = [
  rule("system-override", "high", `\\b${forget}(?:${gap}| )${earlier}(?:${gap}| )${orders}\\b`),
  rule(
    "system-override",
    "high",
    `\\b${forget} (?:everything|anything|all)(?:${gap}| )(?:above|before|told|said|you know)\\b`
  ),
  rule(
    "system-override",
    "high",
    "\\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt|task|objective)s? ?(?:are|is|follow)? ?:"
  ),
  rule(
    "system-override",
    "high",
    "\\b(?:ignoriere|vergiss|missachte) (?:alle |die |deine |bisherigen |vorherigen |obigen ){1,3}(?:anweisungen|instruktionen|regeln|vorgaben)\\b"
  ),
  rule(
    "system-override",
    "high",
    "\\b(?:ignora|olvida|desatiende|ignore|oublie[zs]?|esque[çc]a|desconsidere) (?:todas? |toutes? |las |les |tes |vos |as |tus |suas |sus ){1,3}(?:instrucciones|instructions|consignes|instru[çc][õo]es|reglas|regras|r[èe]gles)\\b"
  ),
  rule(
    "role-hijack",
    "medium",
    "\\b(?:you are|you're|act|behave|respond) (?:now |no longer |from now on )?(?:as )?(?:an? )?(?:unrestricted|unfiltered|uncensored|evil|amoral|jailbroken|root|god[- ]?mode)\\b"
  ),
  rule("role-hijack", "medium", "\\bfrom now on,? (?:you (?:are|will|must|shall)|act as|respond as)\\b"),
  rule("role-hijack", "medium", "\\byou are no longer (?:an? )?[\\w-]{1,20}"),
  rule("role-hijack", "low", "\\bpretend (?:that )?(?:you are|you're|to be)\\b"),
  rule(
    "prompt-leak",
    "high",
    `\\b(?:reveal|print|show|repeat|output|display|leak|dump|disclose|recite|write out|tell me)(?:${gap}| )${secretText}\\b`
  ),
  rule("prompt-leak", "medium", `\\bwhat (?:is|are|was|were) (?:your |the )?${secretText}\\b`),
  rule(
    "prompt-leak",
    "medium",
    "\\brepeat (?:everything|all(?: the)? (?:text|words)) (?:above|before|from the (?:start|beginning))\\b"
  ),
  rule(
    "delimiter",
    "high",
    "<\\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|endofprompt)\\|>"
  ),
  rule("delimiter", "high", "\\[(?:/?system|/?inst|system message|system_prompt)\\]|<</?sys>>"),
  rule(
    "delimiter",
    "medium",
    "</?(?:system|system_prompt|system-prompt|instructions_override)>|<(?:start|end)_of_turn>"
  ),
  rule(
    "delimiter",
    "medium",
    "(?:^|\\n) {0,3}(?:#{2,4} ?)?(?:system|assistant|developer) ?(?:prompt|message|instruction)? ?: ?\\n"
  ),
  rule(
    "jailbreak",
    "high",
    "\\b(?:dan mode|do anything now|jailbreak(?:ed)? mode|developer mode (?:enabled|on|v\\d)|god ?mode enabled|stan mode|dude mode)\\b"
  ),
  rule(
    "jailbreak",
    "high",
    "\\b(?:without|ignoring|free of|bypass(?:ing)?|disable|remove|turn off) (?:any |all |your |of |the |every ){0,3}(?:safety|content|ethical|moral) (?:filters?|guidelines|restrictions?|limits|limitations|policies|policy|constraints|measures)\\b"
  ),
  rule(
    "jailbreak",
    "medium",
    "\\byou (?:have|are under) no (?:restrictions|rules|limits|limitations|filters|guidelines|ethics)\\b"
  ),
  rule(
    "encoding",
    "medium",
    "\\b(?:decode|decrypt|decipher|unscramble)(?:[^.\\n]{0,60}) and (?:then )?(?:follow|execute|obey|run|do|perform|comply)\\b"
  ),
  rule(
    "encoding",
    "low",
    "\\b(?:rot13|base64|hex|morse|leetspeak)[- ]?(?:encoded|coded)? (?:instructions?|commands?|prompt)\\b"
  )
]
