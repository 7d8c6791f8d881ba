/**
 * One embedding, as a list of numbers or as base64 of 32-bit little-endian floats.
 *
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create (read in 2026-11)
 */
import { isArray, type Json } from "../../json/Json.ts"

export type VectorFormat = "float" | "base64"

const floatBytes = 4

const packed = (numbers: ReadonlyArray<number>): string => {
  const bytes = Buffer.allocUnsafe(numbers.length * floatBytes)
  numbers.forEach((number, index) => bytes.writeFloatLE(number, index * floatBytes))
  return bytes.toString("base64")
}

const unpacked = (text: string): ReadonlyArray<number> | null => {
  const bytes = Buffer.from(text, "base64")
  if (bytes.length === 0 || bytes.length % floatBytes !== 0) return null
  return Array.from({ length: bytes.length / floatBytes }, (_, index) => bytes.readFloatLE(index * floatBytes))
}

const isNumbers = (value: Json): value is ReadonlyArray<number> =>
  isArray(value) && value.every((item) => typeof item === "number")

/** The embedding in the requested format. Other forms (vectors per token, packed bits) are kept as the upstream wrote them. */
export const inFormat = (format: VectorFormat, embedding: Json): Json => {
  if (typeof embedding === "string") return format === "base64" ? embedding : (unpacked(embedding) ?? embedding)
  return format === "base64" && isNumbers(embedding) ? packed(embedding) : embedding
}
