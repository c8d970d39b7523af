// Counts of what the page did: what tests assert on instead of times, and what the footer of the slot map shows.
export const stats = {};

export function count(name, by = 1) {
  stats[name] = (stats[name] ?? 0) + by;
}
