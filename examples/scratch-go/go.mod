module cpuquota.invalid/app

go 1.19
