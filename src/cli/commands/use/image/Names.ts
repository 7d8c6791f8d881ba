/** Names of pictures. Pure. */
import { extname } from "node:path"

/** `out.png`, and of several `out-1.png`, `out-2.png`. */
export const numbered = (path: string, index: number, count: number): string => {
  if (count < 2) return path
  const ending = extname(path)
  return `${path.slice(0, path.length - ending.length)}-${index + 1}${ending}`
}
