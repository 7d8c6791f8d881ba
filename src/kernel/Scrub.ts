/** Takes secrets out of texts that others wrote: upstreams repeat the credential they were sent in their complaints. */

/** Shorter ones are no secrets, and would tear words apart. */
const leastLength = 8

/** The text with every occurrence of a secret replaced. */
export const scrub = (text: string, secrets: ReadonlyArray<string>): string => {
  let clean = text
  for (const secret of secrets) {
    if (secret.length >= leastLength && clean.includes(secret)) clean = clean.replaceAll(secret, "[redacted]")
  }
  return clean
}
