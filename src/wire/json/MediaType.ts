/** Media types as other servers take them. */

/** `image/jpg` is in wide use, registered nowhere, and refused by providers that check. */
export const mediaTypeOf = (word: string): string => (word.toLowerCase() === "image/jpg" ? "image/jpeg" : word)

const textual =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|typescript|sql|x-sh|x-ndjson)$)|\+(?:json|xml)$/i

/** Whether a file of this type is nothing but words. Pictures written as text are still pictures. */
export const isTextual = (mediaType: string): boolean => textual.test(mediaType) && !/^image\//i.test(mediaType)
