/** Gives the reader bytes as a file, from memory. */
export const download = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  globalThis.setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
