/** Reads the address that callers use for the gateway where a reverse proxy stands before it. */

/** `https://ai.example/llm`, without a slash at its end; null when it is no plain address: no user name, query or fragment. */
export const readPublicUrl = (text: string): string | null => {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const isPlain =
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === "" &&
    /^[\w.~!$&()*+,;=:@%/-]*$/.test(url.pathname)
  return isPlain ? url.href.replace(/\/+$/, "") : null
}
