module esi/fileserver

go 1.26
