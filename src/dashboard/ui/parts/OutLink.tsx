/** An address on another host, with the host to be seen. What is no web address is text. */
import { visible } from "../format.ts"

const webAddress = (href: string): URL | null => {
  try {
    const url = new URL(href)
    return url.protocol === "https:" || url.protocol === "http:" ? url : null
  } catch {
    return null
  }
}

export const OutLink = ({ href, name }: { readonly href: string; readonly name: string }) => {
  const url = webAddress(href)
  return url === null ? (
    <span>{visible(href)}</span>
  ) : (
    <a href={url.href} target="_blank" rel="noreferrer noopener">
      {visible(name)} <span class="quiet">({visible(url.host)})</span>
    </a>
  )
}
