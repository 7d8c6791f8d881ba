/** Text on one line, without what a terminal or a page could take for something else: controls and characters that cannot be seen. */
export const plainText = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Bidi_Control}]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
