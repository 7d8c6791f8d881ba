/** Media types in the form that servers accept. */

/** `image/jpg` is in wide use, but not registered, and refused by some providers. */
export const mediaTypeOf = (word: string): string => (word.toLowerCase() === "image/jpg" ? "image/jpeg" : word)

const textual =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|typescript|sql|x-sh|x-ndjson)$)|\+(?:json|xml)$/i

/** Checks whether a file of this type is text. Images written as text (SVG) are still images. */
export const isTextual = (mediaType: string): boolean => textual.test(mediaType) && !/^image\//i.test(mediaType)
