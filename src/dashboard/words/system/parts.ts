/** Words that several areas of the system use. */
export const words = {
  pages: "Pages",
  first: "First page",
  before: "Page before",
  next: "Next page",
  yes: "yes",
  no: "no",
  on: "on",
  off: "off",
  undo: "Undo",
  back: "Back to the list",
  wait: "One moment …"
} as const
