/** Short ids derived from content, for things that need an id on this wire and have none. Not for secrets. */

const fnvPrime = 0x01000193

const fnv1a = (text: string, seed: number): number => {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), fnvPrime)
  return hash >>> 0
}

const hex = (value: number): string => value.toString(16).padStart(8, "0")

/** 16 hex digits, always the same for the same text. */
export const fingerprint = (text: string): string => hex(fnv1a(text, 0x811c9dc5)) + hex(fnv1a(text, 0x9e3779b9))

/**
 * An id for a tool call that came without one: stable for the same answer, and different for two calls of one answer and for calls of
 * different answers.
 */
export const inventedCallId = (createdAt: string, index: number, name: string, args: string): string =>
  `call_${fingerprint(`${createdAt}\n${name}\n${args}`)}_${index}`
