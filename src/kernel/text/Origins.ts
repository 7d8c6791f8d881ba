/** Origins of web pages as a browser sends them, such as `https://chat.example`. */

const maxChars = 253 + 16

/** An origin in lower case, without the port that its scheme implies; null when the text is none. `*` is none: it would mean every page. */
export const readOrigin = (text: string): string | null => {
  const origin = text.trim().toLowerCase()
  // Also that of an application, such as `app://notes`.
  if (origin.length > maxChars || !/^[a-z][\d+.a-z-]*:\/\/[^\s#*,/?@]+$/.test(origin)) return null
  if (!/^https?:/.test(origin)) return origin
  return URL.canParse(origin) ? new URL(origin).origin : null
}
