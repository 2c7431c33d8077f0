awk 'BEGIN {
    for (n = 1; n <= 60000; n++) {
        worker = n % 7
        if (n == 48206) { printf "%06d worker-%d error connection pool exhausted\n", n, worker; continue }
        if (n == 48210 || n == 9001) { printf "%06d worker-%d error slow disk\n", n, worker; continue }
        printf "%06d worker-%d request r-%d status %d\n", n, worker, n, n == 48213 ? 500 : 200
    }
}' > server.log
