/** Compares base URLs: where two lead to the same place, a credential for one may be sent to the other. Pure. */

const slashesAtTheEnd = /(?<!\/)\/+$/

const canonical = (text: string): string => {
  if (!URL.canParse(text)) return text
  const { origin, pathname, search } = new URL(text)
  return origin + pathname.replace(slashesAtTheEnd, "") + search
}

/**
 * Scheme, host, port, path and query are the same; letter case of the host, a default port and slashes at the end of the path do not
 * count. The path counts, because on a shared host it may lead to another customer.
 */
export const isSameAddress = (a: string, b: string): boolean => canonical(a) === canonical(b)
