export function retry(task, times) {
  return task().catch((error) => {
    if (times === 0) throw error;
    retry(task, times - 1);
  });
}
