/** Lists the secrets in the calls of a connection that must not come back. */
import * as Redacted from "effect/Redacted"
import type { Connection, SecretHeaders } from "../../subjects/connections/entity.ts"
import { isSecretHeader } from "../../kernel/text/Masking.ts"
import { secretParts } from "../../kernel/secrets/Scrub.ts"
import { type SentSecrets, sentSecrets } from "../../kernel/secrets/SentSecrets.ts"

/** Headers whose values are no secrets, whatever they look like. */
const harmless =
  /^(?:accept(?:-.*)?|anthropic-(?:version|beta)|content-type|http-referer|origin|referer|user-agent|x-title)$/i

/** A sentence, an address without a query or a word says nothing that an answer could not say by itself. */
const isOrdinary = (value: string): boolean =>
  /\s/.test(value) || /^https?:\/\/[^?#@]*$/i.test(value) || !/\d/.test(value)

/** The secret parts of the headers that an operator has given. */
export const headerSecrets = (headers: SecretHeaders): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, redacted]) => {
    const value = Redacted.value(redacted)
    const isSecret = isSecretHeader(name, value) || !isOrdinary(value)
    return isSecret && !harmless.test(name) ? secretParts(value) : []
  })

/** Keys that are in the query of a base URL. */
const querySecrets = (baseUrl: string | null): ReadonlyArray<string> =>
  baseUrl === null || !URL.canParse(baseUrl)
    ? []
    : [...new URL(baseUrl).searchParams].flatMap(([name, value]) => (isSecretHeader(name, value) ? [value] : []))

export const endpointSecrets = (
  { apiKey, baseUrl, headers, oauth }: Pick<Connection, "apiKey" | "baseUrl" | "headers" | "oauth">,
  ownHeaders: SecretHeaders
): SentSecrets =>
  sentSecrets([
    ...[apiKey, oauth?.accessToken, oauth?.refreshToken, oauth?.clientSecret].flatMap((secret) =>
      secret === null || secret === undefined ? [] : [Redacted.value(secret)]
    ),
    ...headerSecrets(headers ?? {}),
    ...headerSecrets(ownHeaders),
    ...querySecrets(baseUrl)
  ])
